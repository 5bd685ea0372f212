"""`pc3d parity`: port and original play the same steps; any difference is an error."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Annotated

import tyro
from rich.table import Table

from pc3d.cli.display import Terminal, counted, table
from pc3d.cli.in_help import Mix, Sizes
from pc3d.cli.team_sizes import team_sizes_for
from pc3d.experiment.mixes import Cast, Seen
from pc3d.system.bounds import within
from pc3d.system.errors import BadInput
from pc3d.tasks.named_mixes import mixes_named
from pc3d.tasks.parity.case import ParityCase
from pc3d.tasks.parity.compare import KINDS, PRECISIONS, Tally, compare
from pc3d.tasks.registry import entry_of, paper_of
from pc3d.tasks.task import World


@dataclass(frozen=True)
class Command:
    task: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="TASK")]
    """Which game to compare."""
    episodes: int = 200
    """Episodes for each team size (and each version of the original)."""
    team_sizes: Sizes = None
    """Such as 1-4,8,32. The paper's sizes if not given."""
    world: World = "crowded"
    """The task's own world, or one that grows with the team."""
    mix: Mix = None
    """Compare teams of unlike agents: unlike, runner=2,hauler=1, or a file (docs/unlike_agents.md)."""
    capabilities: Seen = "visible"
    """With --mix: what agents see of capabilities."""
    seed: int = 0
    """Which random starts and actions."""


def run(command: Command) -> int:
    entry = entry_of(command.task)
    if entry.parity is None:
        raise BadInput(f"there is no original to compare {command.task} with")
    if command.episodes < 1:
        raise BadInput(f"at least 1 episode is needed, not {command.episodes}")
    within("seed", command.seed, 0, 2**31 - 1)
    usual = paper_of(command.task).rosters.all
    case: ParityCase = entry.parity.load().in_world(command.world)
    if command.mix is not None:
        mixes = mixes_named(command.mix, command.task)
        case = case.with_cast(Cast(mixes.all, command.capabilities))
    sizes = team_sizes_for(case.task, command.team_sizes, usual)
    tallies = _compared(case, sizes, command.episodes, command.seed)
    return _report(command.task, tallies)


def _compared(case: ParityCase, sizes: tuple[int, ...], episodes: int, seed: int) -> list[Tally]:
    with counted("comparing", episodes * len(sizes) * len(case.opponents)) as advance:
        return [
            compare(case, one, size, episodes, seed, partial(advance, f"{one.label}, {size} agents"))
            for one in case.opponents
            for size in sizes
        ]


def _report(task_name: str, tallies: list[Tally]) -> int:
    console = Terminal()
    for opponent, group in groupby(tallies, key=lambda tally: tally.opponent):
        console.print(_table(f"{task_name} against {opponent}: mismatches by kind", group))
    for precision in PRECISIONS:
        if left_out := sum(tally.left_out[precision] for tally in tallies):
            console.print(f"left out in {precision} as ties that need not agree: {left_out:,} steps")
    wrong = [tally for tally in tallies if tally.first_mismatch is not None]
    steps = sum(tally.steps for tally in tallies)
    if not wrong:
        console.print(f"{task_name}: {steps:,} steps compared, no mismatch")
        return 0
    mismatches = sum(tally.mismatches.total() for tally in wrong)
    console.print(f"{task_name}: {steps:,} steps compared, {mismatches:,} mismatches; the first:")
    console.print(wrong[0].first_mismatch, markup=False)
    return 1


def _table(title: str, tallies: Iterable[Tally]) -> Table:
    headings = ("agents", "steps", *KINDS, *(f"{precision}\nerror" for precision in PRECISIONS))
    rows = (
        (
            str(tally.team_size),
            f"{tally.steps:,}",
            *(str(tally.mismatches[kind]) for kind in KINDS),
            *(f"{tally.largest_error[precision]:.1e}" for precision in PRECISIONS),
        )
        for tally in tallies
    )
    return table(title, headings, rows, words=0, narrow=True)
