"""A study: tasks × methods × seeds as a small readable file, and the jobs it stands for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Annotated

from pc3d.evaluation.evaluation_file import (
    COACH_EVERY,
    FILES_OF_LESS_SAID,
    LINKS_DROPPED,
    file_of_roster,
)
from pc3d.experiment.copa_settings import NEVER
from pc3d.experiment.methods import METHODS, method_named
from pc3d.experiment.named_rosters import SUFFIX, roster_label, roster_named
from pc3d.experiment.names import check_name
from pc3d.experiment.ranges import Rollouts
from pc3d.experiment.roster_process import CONSTANT
from pc3d.jobs.loop import State, newest_checkpoint
from pc3d.jobs.study_options import check_options
from pc3d.presets.preset_file import DEFAULT_PRESET, check_preset_name, experiment_of, is_file
from pc3d.system.bounds import Bounded, Range
from pc3d.system.errors import BadInput, refuse_unknown, shortened, unknown_name
from pc3d.system.files import digest_of, refuse_links_between
from pc3d.system.imports import folder_name, is_import_path
from pc3d.system.plain import from_plain
from pc3d.system.toml_file import read_toml
from pc3d.tasks.registry import paper_of, papers

SHIPPED = Path(__file__).with_name("studies")
LONGEST_ABOUT = 500  # characters
LONGEST_ROSTER = 100  # characters; it names a file
LONGEST_PART = 120  # of a folder's name


@dataclass(frozen=True)
class Way:
    """In which a run is scored besides: an option of `pc3d evaluate`, and the file that this leaves."""

    option: str
    value: str
    file: str


@dataclass(frozen=True)
class Group(Bounded):
    """All combinations of some tasks, methods and seeds."""

    tasks: tuple[str, ...]
    """Those that come with pc3d, or your own, whose team sizes are among the options."""
    methods: tuple[str, ...]
    seeds: tuple[int, ...]
    preset: str = DEFAULT_PRESET
    """One that comes with pc3d, or a preset file, named from the study file's folder or from here."""
    episodes: int | None = None
    """Instead of the preset's budget."""
    specialists: bool = False
    """One policy for each single team size instead of one for all."""
    sizes: tuple[int, ...] = ()
    """Of specialists: these team sizes alone."""
    options: tuple[str, ...] = ()
    """More words for `pc3d train`, such as "--ppo.epochs 4"."""
    variations: tuple[str, ...] = ()
    """A run for each of these words beside the options; the empty one is the group as it is; needs sealed."""
    sealed: bool = False
    """Never play a test size: for trying out what a method is to be before it is judged."""
    links_dropped: Annotated[tuple[float, ...], Range(0, 1)] = ()
    """Runs whose agents send messages are scored with these shares of their links lost, too."""
    coach_every: Annotated[tuple[int, ...], Range(NEVER, 10**4)] = ()
    """Runs with a coach are scored with one that speaks every so many steps, too; 0 is never."""
    rosters: tuple[str, ...] = ()
    """Runs are scored in teams that change by these processes, too."""

    def __post_init__(self) -> None:
        super().__post_init__()
        own_tasks = tuple(filter(is_import_path, self.tasks))
        for task in self.tasks + self.methods:
            check_name(task)
        for task in self.tasks:
            refuse_unknown("task", task, (*papers(), *own_tasks))
        for method in self.methods:
            method_named(method)
        check_preset_name(self.preset)
        if own_tasks and self.specialists:
            raise BadInput(f"specialists are for the tasks that come with pc3d, not for {own_tasks[0]}")
        if self.specialists and (self.variations or self.sealed):
            raise BadInput(
                "a study's specialists play test sizes, too: they can neither be sealed nor varied"
            )
        if self.sizes and not self.specialists:
            raise BadInput("a study's sizes are those of its specialists: they need specialists = true")
        if self.variations and not self.sealed:
            raise BadInput("a study's variations are there to be chosen from, so they need sealed = true")
        _check_rosters(self)
        check_options(self.options + self.variations, self.tasks, self.methods)

    def ways(self, method: str) -> tuple[Way, ...]:
        """How a method's runs are scored besides: with less said, where its agents hear anything."""
        execution = method_named(method).execution
        shares = ",".join(f"{share:g}" for share in self.links_dropped)
        intervals = ",".join("never" if steps == NEVER else str(steps) for steps in self.coach_every)
        wanted = ((execution.by_sight, LINKS_DROPPED, shares), (execution.coached, COACH_EVERY, intervals))
        less_said = [
            Way(option, words, FILES_OF_LESS_SAID[option])
            for heard, option, words in wanted
            if heard and words
        ]
        changing = [Way("--roster", name, file_of_roster(roster_label(name))) for name in self.rosters]
        return (*less_said, *changing)


@dataclass(frozen=True)
class Study(Bounded):
    """What a study file says."""

    about: str
    """In one sentence, what the study is for."""
    groups: tuple[Group, ...]
    rollouts: Rollouts = 100
    """Evaluation episodes for each team size."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.about.isprintable() or len(self.about) > LONGEST_ABOUT:
            raise BadInput(f"what a study is about is one line of at most {LONGEST_ABOUT} characters")

    def jobs(self, folder: Path) -> list[Job]:
        """Every run once; seed by seed, so that an early look sees all methods."""
        jobs = [job for group in self.groups for job in _jobs(group, folder, self.rollouts)]
        if not jobs:
            raise BadInput("this study has no job left to do: nothing in it matches what was asked for")
        places = [job.folder for job in jobs]
        for place in places:
            refuse_links_between(folder, place)
        if len(set(places)) < len(places):
            raise BadInput("this study has the same task, method and seed twice")
        methods = list(METHODS)
        return sorted(jobs, key=lambda job: (job.seed, job.task, methods.index(job.method), job.folder))


@dataclass(frozen=True)
class Job:
    """One run: train, then evaluate. Both can be stopped and started again at any moment."""

    task: str
    method: str
    seed: int
    folder: Path
    options: tuple[str, ...]
    rollouts: int
    ways: tuple[Way, ...] = ()
    """In which it is scored besides."""

    @property
    def name(self) -> str:
        part = self.folder.parent.name
        name = f"{self.task} {self.method} seed {self.seed}"
        return name if part == folder_name(self.method) else f"{name} {part}"

    @property
    def train_words(self) -> list[str]:
        seed = ["--seed", str(self.seed), "--folder", str(self.folder)]
        return ["train", self.task, self.method, *seed, *self.options]

    @property
    def evaluate_words(self) -> list[str]:
        own = ["--task", self.task] if is_import_path(self.task) else []
        return ["evaluate", str(self.folder), "--rollouts", str(self.rollouts), *own]

    @property
    def errors(self) -> Path:
        """Where the job's process complains."""
        return self.folder / "errors.log"

    @property
    def doing(self) -> State:
        return State.EVALUATING if self.trained else State.TRAINING

    def next_words(self) -> list[str]:
        """Train, or evaluate what is trained, in one way after the other."""
        if not self.trained:
            return self.train_words
        if not self.scored:
            return self.evaluate_words
        return [word for way in self._missing[:1] for word in (*self.evaluate_words, way.option, way.value)]

    def place(self) -> str:
        return newest_checkpoint(self.folder)

    @property
    def trained(self) -> bool:
        return (self.folder / "done.json").exists()

    @property
    def scored(self) -> bool:
        return (self.folder / "scores.csv").exists()

    @property
    def done(self) -> bool:
        return self.trained and self.scored and not self._missing

    @property
    def _missing(self) -> list[Way]:
        """In which further ways it was not scored yet."""
        return [way for way in self.ways if not (self.folder / way.file).exists()]


def shipped_studies() -> list[str]:
    """The names of the studies that come with the package."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def load_study(name: str) -> Study:
    """A shipped study by its name, or one of yours by its file."""
    shipped = shipped_studies()
    path = SHIPPED / f"{name}.toml" if name in shipped else Path(name)
    if not path.exists():
        raise unknown_name("study", name, shipped)
    study: Study = from_plain(Study, read_toml(path, "study file"), name)
    groups = tuple(_with_preset_found(group, Path(name).parent) for group in study.groups)
    return replace(study, groups=groups)


def _check_rosters(group: Group) -> None:
    """Refuse what no run of the group could be scored by, before any is trained."""
    for roster in group.rosters:
        if roster.endswith(SUFFIX) or len(roster) > LONGEST_ROSTER:
            raise BadInput(
                "a study's rosters are names, such as churn or churn:leave=4,join=4, "
                f"of at most {LONGEST_ROSTER} characters, not {shortened(roster)!r}"
            )
        if roster_named(roster) == CONSTANT:
            raise BadInput("with a constant roster nothing changes: leave it out of a study's rosters")
    if group.rosters and (group.specialists or any(map(is_import_path, group.tasks))):
        raise BadInput("a study's rosters are for policies of several sizes on tasks that come with pc3d")
    files = [file_of_roster(roster_label(roster)) for roster in group.rosters]
    if len(set(files)) < len(files):
        raise BadInput(f"a study's rosters must leave files of their own, but two of them leave {files[0]}")


def _with_preset_found(group: Group, folder: Path) -> Group:
    """The group with its preset file where it is, after a look whether it fits all of the group."""
    beside = folder / group.preset
    if is_file(group.preset) and beside.is_file():
        group = replace(group, preset=str(beside))
    for task, method in product(group.tasks, group.methods):
        if task in papers():
            experiment_of(group.preset, task, method)
    return group


def _jobs(group: Group, folder: Path, rollouts: int) -> Iterator[Job]:
    options = tuple(word for option in group.options for word in option.split())
    if group.episodes is not None:
        options += ("--episodes", str(group.episodes))
    if group.sealed:
        options += ("--sealed", "True")
    for task, method, seed in product(group.tasks, group.methods, group.seeds):
        preset = ("--preset", group.preset) if task in papers() or is_file(group.preset) else ()
        for part, words in _parts(group, task):
            place = folder / folder_name(task) / folder_name(method) / part / f"seed-{seed}"
            yield Job(task, method, seed, place, (*preset, *options, *words), rollouts, group.ways(method))


def _parts(group: Group, task: str) -> list[tuple[str, list[str]]]:
    """Into what a method's runs are divided, as folders, and the words that make each: mostly nothing."""
    if group.specialists:
        sizes = group.sizes or paper_of(task).rosters.all
        return [(f"size-{size}", ["--specialist", str(size)]) for size in sizes]
    if group.variations:
        names = [_part_name(words) for words in group.variations]
        return [(name, words.split()) for name, words in zip(names, group.variations, strict=True)]
    return [("", [])]


def _part_name(words: str) -> str:
    name = re.sub(r"[^\w.-]+", "-", words.strip("- "), flags=re.ASCII) or "as-it-is"
    if len(name) <= LONGEST_PART:
        return name
    return f"{name[:LONGEST_PART]}-{digest_of(words.encode())[:8]}"  # or two long ones could be one folder


def with_only(study: Study, only: tuple[str, ...]) -> Study:
    """The study restricted to the named tasks and methods; naming none of a kind keeps all of it."""
    all_tasks = {*papers(), *(task for group in study.groups for task in group.tasks)}
    for name in only:
        refuse_unknown("task or method", name, (*sorted(all_tasks), *METHODS))
    wanted = (all_tasks.intersection(only) or all_tasks) | (METHODS.keys() & only or METHODS.keys())

    def kept(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in names if name in wanted)

    groups = (replace(group, tasks=kept(group.tasks), methods=kept(group.methods)) for group in study.groups)
    return replace(study, groups=tuple(groups))
