"""`pc3d train TASK METHOD`: the paper's training, or yours, continued wherever it was stopped."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from pc3d.cli.training_display import TrainingDisplay
from pc3d.errors import BadInput
from pc3d.experiments import METHOD_NAMES, PRESETS, preset, specialist
from pc3d.metrics import read_lines
from pc3d.run_folder import RunFolder
from pc3d.settings import Experiment
from pc3d.train import DEFAULT_HABITS, Habits, train

USAGE = (
    "pc3d train TASK METHOD [--preset NAME] [--seed N] [--episodes N] [--folder DIR] [--any.setting VALUE]"
)


@dataclass(frozen=True)
class Command:
    experiment: Annotated[Experiment, tyro.conf.arg(name="")]
    habits: Annotated[Habits, tyro.conf.arg(name="")] = DEFAULT_HABITS
    folder: Path | None = None
    """Where the run lives; runs/TASK/METHOD/seed-N if not given."""


def parse(words: list[str]) -> Command:
    """The first two words choose the defaults; every setting can then be changed by name."""
    names = [word for word in words[:2] if not word.startswith("-")]
    if len(names) < 2:
        if "-h" in words or "--help" in words:
            names = ["spread", "pc3d"]
        else:
            raise BadInput(f"usage: {USAGE}; METHOD is one of {', '.join(METHOD_NAMES)}")
    rest = words[len([word for word in words[:2] if not word.startswith("-")]) :]
    chosen, rest = _take_option(rest, "--preset", "paper")
    only_size, rest = _take_option(rest, "--specialist", "")
    experiment = preset(chosen, *names)
    default = Command(experiment=specialist(experiment, only_size) if only_size else experiment)
    return tyro.cli(
        Command,
        prog=f"pc3d train {' '.join(names)}",
        description=f"{USAGE}. Presets: {', '.join(PRESETS)}.",
        default=default,
        args=rest,
        config=(tyro.conf.FlagConversionOff, tyro.conf.AvoidSubcommands),
    )


def run(command: Command) -> int:
    experiment = command.experiment
    folder = command.folder or default_folder(experiment)
    title = f"{experiment.task} {experiment.method} seed {experiment.seed}"
    if RunFolder(folder).done:
        train(experiment, folder)
        print(f"{title}: already finished in {folder}")
        return 0
    with TrainingDisplay(title) as display:
        run = train(experiment, folder, command.habits, display)
    print(summary(run))
    return 0


def default_folder(experiment: Experiment) -> Path:
    return Path("runs", experiment.task, experiment.method, f"seed-{experiment.seed}")


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


def _take_option(words: list[str], name: str, default: str) -> tuple[str, list[str]]:
    """An option that decides the other options' defaults, and the words without it."""
    words = [
        part for word in words for part in (word.split("=", 1) if word.startswith(f"{name}=") else [word])
    ]
    if name not in words:
        return default, words
    place = words.index(name)
    if place + 1 >= len(words):
        raise BadInput(f"{name} needs a value")
    return words[place + 1], words[:place] + words[place + 2 :]
