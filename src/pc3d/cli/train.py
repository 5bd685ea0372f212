"""`pc3d train TASK METHOD`: the paper's training, or yours, continued wherever it was stopped."""

from dataclasses import dataclass, make_dataclass, replace
from pathlib import Path
from typing import Annotated

import tyro

from pc3d.cli.own_task import rosters_from_words, with_world
from pc3d.cli.training_display import TrainingDisplay
from pc3d.experiment.methods import METHODS
from pc3d.experiment.named_rosters import NAMED, roster_named
from pc3d.experiment.settings import Experiment
from pc3d.play.hosted.crew import DEFAULT_HOSTING, Hosting
from pc3d.play.opening import open_arena
from pc3d.presets.paper import PRESETS, custom, sealed, specialist
from pc3d.presets.preset_file import experiment_of, with_preset
from pc3d.runs.metrics import read_lines
from pc3d.runs.run_folder import RunFolder
from pc3d.runs.train import DEFAULT_HABITS, Habits, train
from pc3d.system.errors import BadInput
from pc3d.system.imports import folder_name, is_import_path

USAGE = (
    "pc3d train TASK METHOD [--preset NAME|FILE] [--seed N] [--episodes N] [--folder DIR] "
    "[--roster NAME|FILE] [--any.setting VALUE]"
)
ROSTERS = f"--roster: how teams change while they play; {', '.join(NAMED)}, or a file."


@dataclass(frozen=True)
class Command:
    experiment: Annotated[Experiment, tyro.conf.arg(name="")]
    habits: Annotated[Habits, tyro.conf.arg(name="")] = DEFAULT_HABITS
    folder: Path | None = None
    """Where the run lives; runs/TASK/METHOD/seed-N if not given."""
    sealed: bool = False
    """Keep test sizes out of sight, for trying settings out: pc3d will not play the policy at one."""
    horizon: int | None = None
    """How many steps an episode has at most, instead of the task's own limit."""
    hosting: Annotated[Hosting, tyro.conf.arg(name="")] = DEFAULT_HOSTING


OWN_TASKS = (
    "Its team sizes: --train-sizes, --validation-sizes, --test-sizes (such as 2-4,6), or --rosters FILE, "
    "which may have a curriculum, too. --preset: a file of pc3d tune's."
)


def parse(words: list[str]) -> Command:
    """The first two words choose the defaults; every setting can then be changed by name."""
    names = [word for word in words[:2] if not word.startswith("-")]
    rest = words[len(names) :]
    if len(names) < 2:
        if not _asks_for_help(words):
            raise BadInput(f"usage: {USAGE}; METHOD is one of {', '.join(METHODS)}")
        names = ["spread", "pc3d"]
    chosen, rest = _take_option(rest, "--preset")
    only_size, rest = _take_option(rest, "--specialist")
    roster, rest = _take_option(rest, "--roster")
    if is_import_path(names[0]):
        experiment, rest = _own_experiment(names[0], names[1], rest)
        experiment, about = with_preset(experiment, chosen) if chosen else experiment, OWN_TASKS
    else:
        experiment = experiment_of(chosen or "paper", *names)
        about = f"Presets: {', '.join(PRESETS)}, or a file of pc3d tune's. {ROSTERS}"
    if roster:
        experiment = replace(experiment, roster=roster_named(roster))
    default = Command(experiment=specialist(experiment, only_size) if only_size else experiment)
    command = _parsed(default, f"pc3d train {' '.join(names)}", f"{USAGE}. {about}", rest)
    if not command.sealed:
        return command
    shown = sorted(set(experiment.rosters.test) & set(command.experiment.rosters.train_and_validation))
    if shown:
        raise BadInput(f"--sealed keeps test sizes out of sight, and {shown[0]} agents are one of them")
    return replace(command, experiment=sealed(command.experiment))


def _parsed(default: Command, prog: str, description: str, args: list[str]) -> Command:
    """The command with what the words change; before an algorithm's settings stands its own name."""
    algorithm = default.experiment.algorithm
    named = Annotated[type(algorithm), tyro.conf.arg(name=algorithm.section)]
    kind = make_dataclass("Settings", [("algorithm", named)], bases=(Experiment,), frozen=True)
    command = tyro.cli(
        Command,
        prog=prog,
        description=description,
        default=replace(default, experiment=kind(**vars(default.experiment))),
        args=args,
        config=(tyro.conf.FlagConversionOff, tyro.conf.AvoidSubcommands),
    )
    return replace(command, experiment=Experiment(**vars(command.experiment)))


def run(command: Command) -> int:
    experiment = with_world(command.experiment, command.horizon, command.hosting)
    usual = Path("runs", folder_name(experiment.task), experiment.method, f"seed-{experiment.seed}")
    folder = command.folder or usual
    title = f"{experiment.task} {experiment.method} seed {experiment.seed}"
    original = experiment.backend == "original"
    with open_arena(experiment, experiment.task, command.hosting, original=original) as arena:
        if RunFolder(folder).done:
            train(experiment, arena, folder)
            print(f"{title}: already finished in {folder}")
            return 0
        with TrainingDisplay(title) as display:
            run = train(experiment, arena, folder, command.habits, display)
    print(summary(run))
    return 0


def summary(run: RunFolder) -> str:
    """What came out, in four lines."""
    last = read_lines(run.metrics)[-1]
    seconds = sum(line["seconds"] for line in read_lines(run.clock))
    returns = ", ".join(f"{size} agents {mean:.2f}" for size, (_, mean) in last["return_by_size"].items())
    return (
        f"finished {last['episodes']:,} episodes in {seconds / 60:.1f} min\n"
        f"returns in the last line of metrics: {returns}\n"
        f"policy: {run.final}\nmetrics: {run.metrics}"
    )


def _own_experiment(task: str, method: str, words: list[str]) -> tuple[Experiment, list[str]]:
    """The defaults for an own task, which need its team sizes, and the words without those."""
    given = {}
    for option in ("--rosters", "--train-sizes", "--validation-sizes", "--test-sizes"):
        given[option], words = _take_option(words, option)
    if not any(given.values()) and _asks_for_help(words):
        given["--train-sizes"] = "2-4"
    return custom(task, method, *rosters_from_words(*given.values())), words


def _asks_for_help(words: list[str]) -> bool:
    return "-h" in words or "--help" in words


def _take_option(words: list[str], name: str) -> tuple[str, list[str]]:
    """An option that decides the other options' defaults, and the words without it."""
    words = [
        part for word in words for part in (word.split("=", 1) if word.startswith(f"{name}=") else [word])
    ]
    if name not in words:
        return "", words
    place = words.index(name)
    if place + 1 >= len(words):
        raise BadInput(f"{name} needs a value")
    return words[place + 1], words[:place] + words[place + 2 :]
