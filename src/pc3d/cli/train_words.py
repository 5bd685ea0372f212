"""What the words after `pc3d train` say: an experiment, and how its run is kept; read without JAX."""

import re
from dataclasses import dataclass, fields, make_dataclass, replace
from pathlib import Path
from typing import Annotated

import tyro

from pc3d.cli.booleans import with_values
from pc3d.cli.extensions import admit_method
from pc3d.cli.guesses import refuse_guesses, refuse_swapped
from pc3d.cli.in_help import File, Folder, Mix, NameOrFile, OwnCode, Sizes, View
from pc3d.cli.quick_words import changed_by_words
from pc3d.cli.sizes_words import rosters_from_words, with_sizes
from pc3d.cli.team_sizes import NUMBER
from pc3d.cli.values import refuse_values
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.methods import METHODS
from pc3d.experiment.named_rosters import roster_named
from pc3d.experiment.option_names import options_for
from pc3d.play.hosted.crew import DEFAULT_HOSTING, Hosting
from pc3d.presets.paper import custom, sealed, specialist
from pc3d.presets.preset_file import DEFAULT_PRESET, experiment_of, is_file, with_preset
from pc3d.runs.habits import DEFAULT_HABITS, Habits
from pc3d.system.errors import BadInput, shortened
from pc3d.system.imports import is_import_path
from pc3d.tasks.named_mixes import with_mixes

USAGE = "pc3d train TASK METHOD [--seed N] [--episodes N] [--folder DIR] [--any.setting VALUE]"
EXAMPLE = ("spread", "pc3d")  # whose help is shown if none are named


@dataclass(frozen=True)
class Start:
    """What decides the defaults of all other options, and so is read before them."""

    preset: NameOrFile = None
    """Which table of defaults: paper, or a file that pc3d tune wrote."""
    train_sizes: Sizes = None
    """Training sizes, such as 3,5,7-9; the curriculum grows with them."""
    validation_sizes: Sizes = None
    """Validation sizes; those of the paper that are not named elsewhere, if not given."""
    test_sizes: Sizes = None
    """Test sizes, in the same way."""
    stages: Annotated[str | None, tyro.conf.arg(metavar="STAGES")] = None
    """The curriculum: shares of the episodes and sizes, such as "0.3:2 0.7:2,4"."""
    rosters: File = None
    """All of these as a file; an own task needs it, or --train-sizes."""
    specialist: Annotated[int | None, tyro.conf.arg(metavar="SIZE")] = None
    """Train for this one team size alone."""
    roster: NameOrFile = None
    """How teams change while they play: churn, lose-half, ..., or a file; not at all if not given."""
    mix: Mix = None
    """Train with unlike agents: unlike (the task's own mixes), runner=2,hauler=1 (one mix), or a file."""
    capabilities: View = None
    """With --mix: what agents see of capabilities; also those of teammates in sight, if not given."""

    @property
    def sizes(self) -> tuple[str | None, ...]:
        return self.train_sizes, self.validation_sizes, self.test_sizes


NO_START = Start()


@dataclass(frozen=True)
class Command:
    start: Annotated[Start, tyro.conf.arg(name="")]
    experiment: Annotated[Experiment, tyro.conf.arg(name="")]
    habits: Annotated[Habits, tyro.conf.arg(name="")] = DEFAULT_HABITS
    folder: Folder = None
    """Where the run lives; runs/TASK/METHOD/seed-N if not given."""
    begin_from: Annotated[Path | None, tyro.conf.arg(name="from", metavar="RUN")] = None
    """Begin with the policy of this run, or of this file, in the place of fresh weights; its widths, too."""
    given: tyro.conf.Suppress[tyro.conf.Fixed[tuple[str, ...]]] = ()
    """Of actor and critic, whose settings were chosen; else they follow a policy that the run begins with."""
    sealed: bool = False
    """Keep test sizes out of sight, for trying settings out: pc3d will not play the policy at one."""
    horizon: int | None = None
    """How many steps an episode has at most, instead of the task's own limit."""
    watcher: OwnCode = None
    """A watcher of your own, which is told of everything as the run progresses."""
    hosting: Annotated[Hosting, tyro.conf.arg(name="")] = DEFAULT_HOSTING


def parse(words: list[str]) -> Command:
    """The first two words and a few options choose the defaults; every setting can be changed by name."""
    names = [word for word in words[:2] if not word.startswith("-")]
    rest, helping = words[len(names) :], "-h" in words or "--help" in words
    if len(names) < 2:
        if not helping:
            raise BadInput(f"usage: {USAGE}; METHOD is one of {', '.join(METHODS)}")
        names = list(EXAMPLE)
    task, method = names
    refuse_swapped("train", task, method)
    if is_import_path(method):
        admit_method(method)
    start, rest = _take_start(rest)
    if helping and is_import_path(task) and start == NO_START:
        start = replace(start, train_sizes="2-4")
    experiment = _defaults(task, method, start)
    if start.roster is not None:
        experiment = replace(experiment, roster=roster_named(start.roster))
    experiment = with_mixes(experiment, start.mix, start.capabilities)
    chosen = is_file(start.preset or "")
    named = {part for part in ("actor", "critic") if any(word.startswith(f"--{part}.") for word in rest)}
    default = Command(start, experiment, given=("actor", "critic") if chosen else tuple(sorted(named)))
    command = _parsed(default, f"pc3d train {task} {method}", rest)
    if not command.sealed:
        return command
    # A specialist's one size may be a test size of the others.
    return _sealed(command, _defaults(task, method, replace(start, specialist=None)).rosters.test)


def _defaults(task: str, method: str, start: Start) -> Experiment:
    """The experiment before any option but those of the start."""
    if is_import_path(task):
        usual = custom(task, method, *rosters_from_words(start.rosters, start.sizes, start.stages))
    else:
        usual = experiment_of(start.preset or DEFAULT_PRESET, task, method)
        usual = with_sizes(usual, start.rosters, start.sizes, start.stages)
    if start.preset and (is_import_path(task) or is_file(start.preset)):  # it may refuse these sizes
        usual = with_preset(usual, start.preset)
    if start.specialist is None:
        return usual
    if start.rosters or any(start.sizes) or start.stages:
        raise BadInput("--specialist trains for one team size alone: leave out --train-sizes and its like")
    return specialist(usual, str(start.specialist))


def _sealed(command: Command, test_sizes: tuple[int, ...]) -> Command:
    shown = sorted(set(test_sizes) & set(command.experiment.rosters.train_and_validation))
    if shown:
        raise BadInput(f"--sealed keeps test sizes out of sight, and {shown[0]} agents are one of them")
    return replace(command, experiment=sealed(command.experiment))


def _parsed(default: Command, prog: str, words: list[str]) -> Command:
    """The command with what the words change; before an algorithm's settings stands its own name."""
    words = with_values(words, _booleans(default), names_follow=False)
    hidden, plain = take_option(words, "--sealed")
    experiment = changed_by_words(default.experiment, plain)
    if experiment is not None and hidden in ("", "True", "False"):
        return replace(default, experiment=experiment, sealed=hidden == "True")
    refuse_guesses(words)
    refuse_values(default, words)
    algorithm = default.experiment.algorithm
    named = Annotated[type(algorithm), tyro.conf.arg(name=algorithm.section)]
    kind = make_dataclass("Settings", [("algorithm", named)], bases=(Experiment,), frozen=True)
    command = tyro.cli(
        Command,
        prog=prog,
        description=f"{USAGE}. TASK and METHOD may be your own, as module:name.",
        default=replace(default, experiment=kind(**vars(default.experiment))),
        args=words,
        config=(tyro.conf.FlagConversionOff, tyro.conf.AvoidSubcommands),
    )
    return replace(command, experiment=Experiment(**vars(command.experiment)))


def _booleans(command: Command) -> set[str]:
    owners = (command.experiment, command.habits)
    found = {name for owner in owners for name, value in options_for(owner) if isinstance(value, bool)}
    return {"sealed", *found}


def _take_start(words: list[str]) -> tuple[Start, list[str]]:
    """The options of the start, and the words without them."""
    given: dict[str, str] = {}
    for field in fields(Start):
        value, words = take_option(words, f"--{field.name.replace('_', '-')}")
        if value:
            given[field.name] = value
    return _start(given), words


def _start(given: dict[str, str]) -> Start:
    size = given.pop("specialist", None)
    if size is not None and not re.fullmatch(NUMBER, size):
        raise BadInput(f"--specialist is one team size, such as 4, not {shortened(size)!r}")
    file = given.pop("rosters", None)
    alone, rosters = None if size is None else int(size), None if file is None else Path(file)
    return Start(**given, specialist=alone, rosters=rosters)


def take_option(words: list[str], name: str) -> tuple[str, list[str]]:
    """An option that decides the other options' defaults, and the words without it."""
    words = [
        part for word in words for part in (word.split("=", 1) if word.startswith(f"{name}=") else [word])
    ]
    if name not in words:
        return "", words
    place = words.index(name)
    value, rest = "".join(words[place + 1 : place + 2]), words[:place] + words[place + 2 :]
    if not value:  # none, or that of a shell's variable that is not set
        raise BadInput(f"{name} needs a value")
    if name in rest:
        raise BadInput(f"{name} is given twice: which one is meant?")
    return value, rest
