"""`pc3d tune TASK METHOD`: search for better settings on training and validation sizes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.table import Table

from pc3d.cli.tune_display import Display, summary
from pc3d.errors import BadInput, MissingExtra
from pc3d.files import explained, one_owner
from pc3d.presets.preset_file import experiment_of
from pc3d.tuning.plan import Plan, Pruning, inherited, make_plan
from pc3d.tuning.trial_folder import Budget

USAGE = "pc3d tune TASK METHOD [--trials N] [--episodes N] [--fix NAME=VALUE ...] [--show-space]"


@dataclass(frozen=True)
class Command:
    task: tyro.conf.Positional[str]
    """spread, lbf or rware."""
    method: tyro.conf.Positional[str]
    """Which method's settings to search."""
    trials: int = 50
    """How many trials the search has in all; the same command with more continues it."""
    workers: int = os.cpu_count() or 1
    """Trials at a time, each with one thread."""
    episodes: int | None = None
    """Training episodes of a trial; the paper's budget if not given."""
    seeds: int = 1
    """Trainings in a trial, each with another seed; a trial's return is their mean."""
    rollouts: int = 64
    """Evaluation episodes for each team size and seed."""
    pruning: Pruning = "median"
    """How trials that fall behind are given up: below the median, by successive halving, or never."""
    base: str | None = None
    """A preset's name or file to start from; if not given, the winner of MAPPO's search, or the paper's."""
    fix: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE ...")] = ()
    """Settings that are not searched, such as ppo.epochs=8 actor.widths=128,64."""
    folder: Path = Path("tuning")
    """Searches live below it, in TASK/METHOD."""
    storage: str | None = None
    """A database's address, for many machines; a SQLite file in the folder if not given."""
    name: str | None = None
    """The search's name in the database; "TASK METHOD" if not given."""
    sampler_seed: int = 0
    """Decides what the sampler proposes."""
    show_space: bool = False
    """Print what would be searched, and do nothing."""


@dataclass(frozen=True)
class TrialCommand:
    """One trial, as a search's workers run it."""

    place: tyro.conf.Positional[Path]
    """The trial's folder, with its preset.toml."""
    episodes: int
    seeds: int
    rollouts: int


def parse(words: list[str]) -> Command | TrialCommand:
    """`pc3d tune trial FOLDER` is one trial; everything else is a search."""
    if words[:1] == ["trial"]:
        return tyro.cli(TrialCommand, prog="pc3d tune trial", args=words[1:])
    return tyro.cli(Command, prog="pc3d tune", description=USAGE, args=words)


def run(command: Command | TrialCommand) -> int:
    if isinstance(command, TrialCommand):
        return _run_trial(command)
    plan = _plan(command)
    console = Console()
    if command.show_space:
        console.print(space_table(plan))
        return 0
    if find_spec("optuna") is None:
        raise MissingExtra("optuna", "tune")
    if command.workers < 1 or command.trials < 1:
        raise BadInput("a search needs at least 1 worker and 1 trial")
    folder = command.folder / command.task / command.method
    with explained(f"writing to {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        with one_owner(folder):
            return _search(command, plan, folder, console)


def space_table(plan: Plan) -> Table:
    """What is searched, and around which values."""
    from pc3d.presets.changes import as_short_text, setting

    title = (
        f"{plan.base.task} {plan.base.method}: {len(plan.rows)} settings are searched, from {plan.base_name}"
    )
    table = Table(title=title, title_justify="left")
    for heading in ("setting", "tried", "first trial"):
        table.add_column(heading, overflow="fold")
    for row in plan.rows:
        table.add_row(row.setting, str(row.tried), as_short_text(setting(plan.base, row.setting)))
    return table


def _plan(command: Command) -> Plan:
    base, name = inherited(command.folder, command.task, command.method)
    if command.base is not None:
        base, name = experiment_of(command.base, command.task, command.method), command.base
    episodes = base.episodes if command.episodes is None else command.episodes
    budget = Budget(episodes, command.seeds, command.rollouts)
    return make_plan(base, name, command.fix, budget, command.pruning, command.sampler_seed)


def _search(command: Command, plan: Plan, folder: Path, console: Console) -> int:
    from pc3d.tuning.results import write_results
    from pc3d.tuning.search import Search
    from pc3d.tuning.search_folder import adopted
    from pc3d.tuning.storage import Storage, fresh_id

    url = command.storage or f"sqlite:///{folder / 'search.db'}"
    name = command.name or f"{command.task} {command.method}"
    folder_id = adopted(folder, plan, fresh_id())
    storage = Storage(url, name, plan, folder_id)
    try:
        sizes = ", ".join(map(str, plan.base.rosters.validation))
        console.print(
            f"{command.task} {command.method}: {command.trials} trials of {plan.budget.episodes:,} episodes, "
            f"starting from {plan.base_name}; decided by the return at the validation sizes {sizes}",
            soft_wrap=True,
        )
        with Display(console, plan, command.trials) as display:
            search = Search(plan, storage, folder, command.trials, command.workers, display.show)
            records = search.until_done()
        importances = storage.importances()
        write_results(plan, records, importances, folder)
        console.print(summary(plan, records, importances, folder))
    finally:
        storage.close()
    return 0


def _run_trial(command: TrialCommand) -> int:
    from pc3d.tuning.trial import run_trial

    score = run_trial(command.place, Budget(command.episodes, command.seeds, command.rollouts))
    print(f"train {score.train:.4f}, validation {score.validation:.4f}")
    return 0
