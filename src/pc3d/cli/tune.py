"""`pc3d tune TASK METHOD`: search for better settings on training and validation sizes."""

import os
from contextlib import closing
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from pc3d.cli.booleans import booleans_of, with_values
from pc3d.cli.display import Terminal
from pc3d.cli.extensions import admit_method
from pc3d.cli.guesses import refuse_swapped
from pc3d.cli.in_help import File, Mix, NameOrFile, OwnCode, Sizes, View
from pc3d.cli.sizes_words import rosters_from_words
from pc3d.cli.tune_display import Display, places, space_table, winner_table
from pc3d.cli.values import refuse_values
from pc3d.experiment.experiment import Experiment
from pc3d.jobs.tuning.plan import Plan, Pruning, inherited, make_plan
from pc3d.jobs.tuning.trial_folder import Budget, TrialFolder
from pc3d.play.hosted.crew import DEFAULT_HOSTING, Hosting
from pc3d.presets.paper import custom, paper
from pc3d.presets.preset_file import with_preset
from pc3d.system.errors import BadInput, MissingExtra
from pc3d.system.files import explained, one_owner
from pc3d.system.imports import folder_name, is_import_path
from pc3d.system.plain import amount
from pc3d.tasks.named_mixes import with_mixes

USAGE = "pc3d tune TASK METHOD [--trials N] [--episodes N] [--fix NAME=VALUE ...] [--show-space]"


@dataclass(frozen=True)
class Command:
    task: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="TASK")]
    """spread, lbf or rware, or your own as module:name."""
    method: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="METHOD")]
    """Which method's settings to search; your own as module:name."""
    trials: int = 50
    """How many trials the search has in all; the same command with more continues it."""
    workers: int = os.cpu_count() or 1
    """Trials at a time, each with one thread."""
    episodes: int | None = None
    """Training episodes of a trial; the whole budget if not given."""
    seeds: int = 1
    """Trainings in a trial, each with another seed; a trial's return is their mean."""
    rollouts: int = 64
    """Evaluation episodes for each team size and seed."""
    pruning: Pruning = "median"
    """How trials that fall behind are given up: below the median, by successive halving, or never."""
    base: NameOrFile = None
    """A preset's name or file to start from; if not given, the winner of MAPPO's search, or the usual one."""
    fix: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE ...")] = ()
    """Settings that are not searched, such as ppo.epochs=8 actor.widths=128,64."""
    folder: Path = Path("tuning")
    """Searches live below it, in TASK/METHOD."""
    storage: Annotated[str | None, tyro.conf.arg(metavar="ADDRESS")] = None
    """A database's address, for many machines; a SQLite file in the folder if not given."""
    name: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """The search's name in the database; "TASK METHOD" if not given."""
    sampler_seed: int = 0
    """Decides what the sampler proposes."""
    show_space: bool = False
    """Print what would be searched, and do nothing."""
    rosters: File = None
    """An own task's team sizes as a file, which may have a curriculum, too."""
    train_sizes: Sizes = None
    """An own task's training sizes, such as 2-4,6, instead of a file."""
    validation_sizes: Sizes = None
    """Those that decide the search."""
    test_sizes: Sizes = None
    """Those that no trial is told of."""
    mix: Mix = None
    """Search with unlike agents: unlike (the task's own mixes), runner=2,hauler=1 (one mix), or a file."""
    capabilities: View = None
    """With --mix: what agents see of capabilities; also those of teammates in sight, if not given."""
    horizon: int | None = None
    """The time limit of an own task that has none of its own."""
    hosting: Annotated[Hosting, tyro.conf.arg(name="")] = DEFAULT_HOSTING

    @property
    def sizes(self) -> tuple[str | None, ...]:
        return self.train_sizes, self.validation_sizes, self.test_sizes

    @property
    def own_words(self) -> tuple[str, ...]:
        """What a trial is told beside its budget, if its task or its method is the user's own."""
        words = ("--method", self.method) if is_import_path(self.method) else ()
        if not is_import_path(self.task):
            return words
        workers, timeout = str(self.hosting.env_workers), str(self.hosting.env_timeout)
        return (*words, "--task", self.task, "--env-workers", workers, "--env-timeout", timeout)


@dataclass(frozen=True)
class TrialCommand:
    """One trial, as a search's workers run it."""

    place: tyro.conf.Positional[Path]
    """The trial's folder, with its preset.toml."""
    budget: Annotated[Budget, tyro.conf.arg(name="")]
    task: OwnCode = None
    """An own task, named again: no file makes us run its code."""
    method: OwnCode = None
    """An own method, named again, for the same reason."""
    hosting: Annotated[Hosting, tyro.conf.arg(name="")] = DEFAULT_HOSTING


def parse(words: list[str]) -> Command | TrialCommand:
    """`pc3d tune trial FOLDER` is one trial; everything else is a search."""
    if words[:1] == ["trial"]:
        refuse_values(TrialCommand, words)
        return tyro.cli(TrialCommand, prog="pc3d tune trial", args=words[1:])
    if len(words) > 1:
        refuse_swapped("tune", *words[:2])
    words = with_values(words, booleans_of(Command))
    refuse_values(Command, words)
    return tyro.cli(
        Command, prog="pc3d tune", description=USAGE, args=words, config=(tyro.conf.FlagConversionOff,)
    )


def run(command: Command | TrialCommand) -> int:
    if isinstance(command, TrialCommand):
        return _run_trial(command)
    if is_import_path(command.method):
        admit_method(command.method)
    plan = _plan(command)
    console = Terminal()
    if command.show_space:
        console.print(space_table(plan))
        return 0
    if find_spec("optuna") is None:
        raise MissingExtra("optuna", "tune")
    if command.workers < 1 or command.trials < 1:
        raise BadInput("a search needs at least 1 worker and 1 trial")
    if is_import_path(command.task):
        from pc3d.cli.own_task import with_world  # with JAX behind it

        plan = replace(plan, base=with_world(plan.base, command.horizon, command.hosting))
    folder = command.folder / folder_name(command.task) / folder_name(command.method)
    with explained(f"writing to {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        with one_owner(folder):
            return _search(command, plan, folder, console)


def _plan(command: Command) -> Plan:
    usual = with_mixes(_usual(command), command.mix, command.capabilities)
    base, name = inherited(command.folder, usual)
    if command.base is not None:
        base, name = with_preset(usual, command.base), command.base
    episodes = base.episodes if command.episodes is None else command.episodes
    if base.mixes != usual.mixes:
        raise BadInput(
            f"{name} was found with other kinds of agents: name them with --mix and --capabilities"
        )
    budget = Budget(episodes, command.seeds, command.rollouts)
    return make_plan(
        base,
        name,
        command.fix,
        budget,
        command.pruning,
        command.sampler_seed,
        mix=command.mix or "",
        capabilities=command.capabilities or "",
    )


def _usual(command: Command) -> Experiment:
    if is_import_path(command.task):
        return custom(command.task, command.method, *rosters_from_words(command.rosters, command.sizes, None))
    usual = paper(command.task, command.method)
    if command.rosters or any(command.sizes):
        raise BadInput(f"a search on {command.task} has the paper's team sizes: pc3d train takes others")
    if command.horizon is not None or command.hosting != DEFAULT_HOSTING:
        raise BadInput(f"--horizon and --env-… are for own tasks: {command.task} has its own")
    return usual


def _search(command: Command, plan: Plan, folder: Path, console: Console) -> int:
    from pc3d.jobs.tuning.results import write_results
    from pc3d.jobs.tuning.search import Search
    from pc3d.jobs.tuning.storage import Storage, adopted

    url = command.storage or f"sqlite:///{folder / 'search.db'}"
    name = command.name or f"{command.task} {command.method}"
    sizes = ", ".join(map(str, plan.base.rosters.validation))
    with closing(Storage(url, name, plan, adopted(folder, plan))) as storage:
        console.print(
            f"{command.task} {command.method}: {amount(command.trials, 'trial')} of "
            f"{plan.budget.episodes:,} episodes, "
            f"starting from {plan.base_name}; decided by the return at the validation sizes {sizes}",
            soft_wrap=True,
        )
        with Display(console, plan, command.trials) as display:
            amounts = (command.trials, command.workers)
            search = Search(plan, storage, folder, *amounts, display.show, command.own_words)
            records = search.until_done()
        importances = storage.importances()
        write_results(plan, records, importances, folder)
        console.print(winner_table(plan, records, importances))
        console.print(places(plan, folder), soft_wrap=True, highlight=False)
    return 0


def _run_trial(command: TrialCommand) -> int:
    from pc3d.cli.own_task import admit_named
    from pc3d.jobs.tuning.trial import run_trial, sealed_experiment
    from pc3d.play.opening import open_arena

    budget, folder = command.budget, TrialFolder(command.place)
    admit_named(command.task)
    admit_method(command.method)
    experiment = sealed_experiment(folder, budget)
    with open_arena(experiment, command.task, command.hosting, original=False) as arena:
        score = run_trial(folder, experiment, arena, budget)
    print(f"train {score.train:.4f}, validation {score.validation:.4f}")
    return 0
