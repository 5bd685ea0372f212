"""Finding the runs a report is made of, and naming every one that cannot take part, with the reason."""

import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from pc3d.evaluation.evaluation_file import ON_ORIGINALS, file_names, read_evaluation
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.rosters import Rosters
from pc3d.report.names import SPLITS, methods_in_order, tasks_in_order
from pc3d.report.scores import Scores, read_scores, read_table
from pc3d.report.together import MIXES, RETURN, SIZES, LeftOut, alike, refuse_the_same_twice, without_doubles
from pc3d.runs.lengthening import is_kept
from pc3d.runs.line_contract import read_clock, read_evaluations, read_metrics
from pc3d.runs.metrics import Line
from pc3d.runs.run_folder import RunFolder
from pc3d.system.errors import BadInput
from pc3d.system.imports import is_import_path
from pc3d.tasks.registry import TASKS, papers
from pc3d.tasks.task import WORLDS, World

REFERENCES_FILE = "references.csv"
BySize = Float[np.ndarray, " size"]
ORDER = attrgetter("experiment.task", "experiment.method", "experiment.seed", "name")


@dataclass(frozen=True)
class Run:
    """One run folder as a report sees it."""

    folder: RunFolder
    experiment: Experiment
    return_definition: str
    scores: Scores | None
    evaluation: dict[str, Any]  # by which rules it was scored; empty where that is not written down
    scores_on_originals: Scores | None = None
    evaluation_on_originals: dict[str, Any] = field(default_factory=dict)
    large: dict[World, Scores] = field(default_factory=dict)  # of large teams

    @property
    def name(self) -> str:
        name = f"{self.experiment.task} {self.experiment.method} seed {self.experiment.seed}"
        if self.is_trial:
            return f"{name} tried in {self.folder.path.parent}"
        return f"{name} {sizes[0]} agents only" if len(sizes := self.experiment.rosters.all) == 1 else name

    @property
    def is_trial(self) -> bool:
        """Whether it was made to try settings out, with the test sizes sealed."""
        return self.experiment.rosters.sealed_largest > 0

    @property
    def context_file(self) -> Path:
        return self.folder.path / "context.json"

    @property
    def replays(self) -> list[Path]:
        """The recorded episodes, one per team size."""
        return sorted((self.folder.path / "replays").glob("size-*.json"))

    def shows(self, team_size: int) -> bool:
        """Whether an episode with that many agents was recorded."""
        return (self.folder.path / "replays" / f"size-{team_size}.json").exists()

    @cached_property
    def history(self) -> list[Line]:
        """The numbers of its training."""
        return read_metrics(self.folder.metrics)

    @cached_property
    def sittings(self) -> list[Line]:
        """How long its training took."""
        return read_clock(self.folder.clock)

    @cached_property
    def evaluations(self) -> list[Line]:
        """The scores on the way, where there were any."""
        return read_evaluations(self.folder.evaluations)

    def check_lines(self) -> None:
        """Before anything is made of them."""
        _ = self.history, self.sittings, self.evaluations

    @property
    def stages(self) -> dict[int, list[Line]]:
        """The numbers of its training, by stage of the curriculum."""
        stages = groupby(self.history, key=lambda line: line["stage"])
        return {stage: list(lines) for stage, lines in stages}

    @property
    def complete(self) -> bool:
        """Whether it is finished and has a score at every team size of its task."""
        sizes = self.experiment.rosters.all
        return self.folder.done and self.scores is not None and not self.scores.lacking(sizes)

    @property
    def trouble(self) -> str | None:
        """Why it is in no table of scores, if it is not."""
        if not self.folder.done:
            played = self.history[-1]["episodes"] if self.history else 0
            return f"unfinished, {played:,} of {self.experiment.episodes:,} episodes"
        if self.scores is None:
            return f"not evaluated: {self.evaluate_command}"
        lacking = self.scores.lacking(self.experiment.rosters.all)
        sizes = ", ".join(map(str, lacking))
        again = f"not evaluated at team sizes {sizes}, so in no table of scores: {self.evaluate_command}"
        return again if lacking else None

    @property
    def evaluate_command(self) -> str:
        """What scores it; code of one's own is named again, as no file makes pc3d run it."""
        named = {"--task": self.experiment.task, "--method": self.experiment.method}
        own = [word for option, name in named.items() if is_import_path(name) for word in (option, name)]
        return shlex.join(["pc3d", "evaluate", str(self.folder.path), *own])


Check = Callable[[Run], object]  # raises BadInput where a run holds what cannot be read


@dataclass(frozen=True)
class Runs:
    """All runs given, and the scores of reference players found beside them."""

    all: tuple[Run, ...]
    references: dict[str, dict[str, Scores]]  # by task and name
    large_references: dict[World, dict[str, dict[str, Scores]]] = field(default_factory=dict)
    specialists: tuple[Run, ...] = ()  # trained for one team size alone, to be compared with the others
    trials: tuple[Run, ...] = ()  # made to try settings out, never played at test sizes
    left_out: tuple[LeftOut, ...] = ()  # what cannot be read, or cannot stand beside the others
    strangers: dict[Path, str] = field(default_factory=dict)
    """Files of references, and the task in each of which there is no run."""

    @property
    def given(self) -> tuple[Run, ...]:
        """Every run that was found, whatever it is for."""
        return self.all + self.specialists + self.trials

    @cached_property
    def tasks(self) -> list[str]:
        return tasks_in_order({run.experiment.task for run in self.all})

    def methods(self, *tasks: str) -> list[str]:
        """Those that were run on any of the tasks."""
        return methods_in_order({run.experiment.method for run in self.all if run.experiment.task in tasks})

    @property
    def by_method(self) -> Iterator[tuple[str, str, list[Run]]]:
        """Every task with every method that was run on it, and the runs."""
        for task in self.tasks:
            for method in self.methods(task):
                yield task, method, self.of(task, method)

    def of(self, task: str, method: str | None = None) -> list[Run]:
        """The runs on a task, or those of one method there, by seed, whatever state they are in."""
        chosen = [run for run in self.all if run.experiment.task == task]
        return [run for run in chosen if method in (None, run.experiment.method)]

    def finished(self, task: str, method: str) -> list[Run]:
        return [run for run in self.of(task, method) if run.folder.done]

    def scored(self, task: str, method: str) -> list[Scores]:
        """The scores of all finished seeds that have every team size."""
        return [run.scores for run in self.of(task, method) if run.scores and run.complete]

    def rosters(self, task: str) -> Rosters:
        return self.of(task)[0].experiment.rosters

    def sizes(self, task: str, split: str) -> tuple[int, ...]:
        return getattr(self.rosters(task), split)

    def splits(self, task: str) -> dict[str, tuple[int, ...]]:
        """The team sizes of every split."""
        return {split: self.sizes(task, split) for split in SPLITS}

    def lengths(self, task: str) -> list[str]:
        """For how many episodes its runs were trained."""
        return [f"{length:,}" for length in sorted({run.experiment.episodes for run in self.of(task)})]

    def as_the_paper(self, task: str) -> bool:
        """Whether its runs are as long as the paper's, so that the paper's numbers may stand beside them."""
        return task in papers() and self.lengths(task) == [f"{papers()[task].episodes:,}"]

    def matrix(self, task: str, method: str, sizes: Sequence[int]) -> Float[np.ndarray, "seed size"]:
        """Mean returns of every scored seed at every size."""
        means = [scores.means(sizes) for scores in self.scored(task, method)]
        return np.array(means).reshape(len(means), len(sizes))

    def reference_range(self, task: str) -> tuple[BySize, BySize] | None:
        """The random player's and the best reference's mean return at every size of the task, if known."""
        sizes = self.rosters(task).all
        known = self.references.get(task, {})
        means = {name: player.means(sizes) for name, player in known.items() if not player.lacking(sizes)}
        if "random" not in means:
            return None
        low, high = means["random"], np.max(list(means.values()), axis=0)
        return (low, high) if np.all(high > low) else None


def find_runs(paths: Iterable[Path], *, check: Check | None = None) -> Runs:
    """Every run and every table of references under the paths; what cannot be compared is refused.

    With a check, runs that it refuses and those that cannot be compared are left out, as long as any remain.
    """
    paths = list(paths)
    files = _files(paths, "experiment.json")
    if not files:
        raise BadInput(f"there is no run (no experiment.json) in {', '.join(map(str, paths))}")
    found, damaged = _read_runs([file.parent for file in files], check)
    runs = sorted(found, key=ORDER)
    refuse_the_same_twice(runs)
    trials, unlike_trials = alike([run for run in runs if run.is_trial], RETURN)
    judged = [run for run in runs if not run.is_trial]
    of_one_size = _specialists(judged)
    open_teams, unlike = alike([run for run in judged if run not in of_one_size], RETURN, SIZES, MIXES)
    (open_teams, doubles), (specialists, more) = map(without_doubles, (open_teams, of_one_size))
    left_out = [*damaged, *unlike_trials, *unlike, *doubles, *more]
    if left_out and (check is None or not (open_teams or specialists or trials)):
        raise BadInput(left_out[0].reason)
    names = [f"references{suffix}.csv" for suffix in ("", *(f"-{world}" for world in WORLDS))]
    references, *large = (_references(paths, open_teams + trials, name) for name in names)
    return Runs(
        tuple(open_teams),
        references,
        large_references=dict(zip(WORLDS, large, strict=True)),
        specialists=tuple(specialists),
        trials=tuple(trials),
        left_out=tuple(left_out),
        strangers=_strangers([file for name in names for file in _files(paths, name)], runs),
    )


def _files(paths: Iterable[Path], name: str) -> list[Path]:
    for path in paths:
        if not path.is_dir():
            raise BadInput(f"there is no folder {path}")
    found = {place for path in paths for place in path.rglob(name) if not _aside(place, path)}
    return sorted(found, key=lambda place: place.parent)


def _aside(place: Path, path: Path) -> bool:
    """A folder with a leading dot is a record that is being written, or whose writing was interrupted."""
    hidden = any(part.startswith(".") for part in place.relative_to(path).parts)
    return hidden or (place.parent != path and is_kept(place.parent))


def _read_runs(paths: list[Path], check: Check | None) -> tuple[list[Run], list[LeftOut]]:
    if check is None:
        return [_read_run(path) for path in paths], []
    runs, damaged = [], []
    for path in paths:
        try:
            run = _read_run(path)
            check(run)
            runs.append(run)
        except BadInput as error:
            damaged.append(LeftOut(path, str(error)))
    return runs, damaged


def _read_run(path: Path) -> Run:
    folder = RunFolder(path)
    folder.check_whole()
    experiment = folder.experiment()
    run = Run(
        folder=folder,
        experiment=experiment,
        return_definition=str(read_table(folder.experiment_file).get("return_definition", "not stated")),
        scores=_own_scores(path, experiment),
        evaluation=read_evaluation(path),
        scores_on_originals=_own_scores(path, experiment, ON_ORIGINALS),
        evaluation_on_originals=read_evaluation(path, ON_ORIGINALS),
        large=dict(_large(path, experiment)),
    )
    run.check_lines()
    return run


def _large(path: Path, experiment: Experiment) -> Iterator[tuple[World, Scores]]:
    for world in WORLDS:
        read_evaluation(path, f"-{world}")  # checks them
        if scores := _own_scores(path, experiment, f"-{world}"):
            yield world, scores


def _own_scores(folder: Path, experiment: Experiment, suffix: str = "") -> Scores | None:
    file = folder / file_names(suffix)[0]
    if not file.exists():
        return None
    expected = (experiment.task, experiment.method, experiment.seed)
    players = read_scores(file)
    if [(player.task, player.method, player.seed) for player in players] != [expected]:
        raise BadInput(f"{file} holds scores of another run than {' '.join(map(str, expected))}")
    return players[0]


def _references(paths: Iterable[Path], runs: list[Run], name: str) -> dict[str, dict[str, Scores]]:
    """By task and name; only for tasks whose returns are defined as references are scored."""
    found: dict[str, dict[str, Scores]] = defaultdict(dict)
    for file in _files(paths, name):
        for scores in read_scores(file):
            if scores.method in found[scores.task]:
                raise BadInput(
                    f"there are two tables with the {scores.method} player of {scores.task}; one is {file}"
                )
            found[scores.task][scores.method] = scores
    usual = {run.experiment.task for run in runs if run.return_definition == _usual_definition(run)}
    return {task: players for task, players in found.items() if task in usual}


def _strangers(files: list[Path], runs: list[Run]) -> dict[Path, str]:
    known = {run.experiment.task for run in runs}
    return {file: scores.task for file in files for scores in read_scores(file) if scores.task not in known}


def _usual_definition(run: Run) -> str | None:
    if run.experiment.world is not None:
        return run.experiment.world.return_definition
    entry = TASKS.get(run.experiment.task)
    return entry.make(entry.task_class.largest_team).return_definition if entry else None


def _specialists(runs: list[Run]) -> list[Run]:
    """Runs for one team size, where their task also has runs for other sizes."""
    kinds = Counter(task for task, _ in {(run.experiment.task, run.experiment.rosters.all) for run in runs})
    return [run for run in runs if len(run.experiment.rosters.all) == 1 and kinds[run.experiment.task] > 1]
