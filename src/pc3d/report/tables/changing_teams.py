"""Teams that change while they play: what a method brings by each roster process, and how it recovers."""

from collections.abc import Callable, Sequence

import numpy as np

from pc3d.evaluation.changing.censored import CensoredTimes
from pc3d.evaluation.changing.read import ChangingScores
from pc3d.report.changes import Cases, Change
from pc3d.report.names import heading, method_title, task_title
from pc3d.report.prose import listed
from pc3d.report.statistics import Estimate, estimate
from pc3d.report.tables.large_teams import with_interval
from pc3d.report.tables.table import NOTHING, Cell, Row, Table, make_table

COLUMNS = (
    *("Policy", "roster", "agents", "return", "regret", "recovered", "median recovery", "cost of churn"),
    *("joiners", "incumbents"),
)


def changing_table(changes: Sequence[Change], task: str) -> Table | None:
    """One row for each process and method."""
    over = " and ".join(sorted({change.over for change in changes}))
    scale = task_title(task).scale
    return make_table(heading("changing", task, over=over), COLUMNS, [_row(one, scale) for one in changes])


def regrets(one: ChangingScores) -> np.ndarray | None:
    return one.shock.regrets if one.shock else None


def costs(one: ChangingScores) -> np.ndarray | None:
    """What constant teams of the same sizes bring more."""
    return None if one.mixture is None else one.mixture - one.returns


def change_cells(change: Change, scale: float) -> tuple[Cell, str]:
    """The return, with what the same teams brought if nobody left or joined, and the cost of churn."""
    unchanged = change.units(lambda one: scale * one.unchanged)
    assert unchanged is not None, "every evaluation has it"
    returned = Cell(_mean(change, lambda one: scale * one.returns), note=f"unchanged {unchanged.mean():.2f}")
    return returned, _mean(change, lambda one: None if (cost := costs(one)) is None else scale * cost)


def _row(change: Change, scale: float) -> Row:
    returned, cost = change_cells(change, scale)
    return (
        method_title(change.method),
        change.roster,
        listed(map(str, change.sizes)),
        returned,
        _mean(change, regrets),
        *_recovery(change),
        cost,
        *(_waiting(change.waiting(who)) for who in (lambda one: one.joiners, lambda one: one.incumbents)),
    )


def _mean(change: Change, what: Callable[[ChangingScores], np.ndarray | None]) -> str:
    units = change.units(what)
    return NOTHING if units is None else with_interval(estimate(np.mean, units))


def _recovery(change: Change) -> tuple[Cell | str, Cell | str]:
    """Beside it, what a team that never changed seems to take: the rest is the change's."""
    cases = change.recoveries(lambda shock: shock.recovery)
    usual = change.recoveries(lambda shock: shock.unshocked)
    if cases is None or usual is None:
        return NOTHING, NOTHING
    longest = int(cases[..., 0].max())
    median = estimate(lambda chosen: _median(chosen, longest), cases)
    without = _plain(_median(usual, longest), longest)
    return (
        Cell(_percent(cases[..., 1].mean()), note=f"never changed {_percent(usual[..., 1].mean())}"),
        Cell(_until(median, longest), note=f"never changed {without}"),
    )


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


def _median(cases: Cases, longest: int) -> float:
    """More than was ever looked at where half were not seen to recover: so it can be ranked."""
    steps, seen = cases.reshape(-1, 2).T
    median = CensoredTimes(steps, seen.astype(bool)).median
    return longest + 1.0 if median is None else median


def _until(median: Estimate, longest: int) -> str:
    ends = [_plain(end, longest) for end in median.interval or ()]
    return _plain(median.value, longest) + (f" [{ends[0]}, {ends[1]}]" if ends else "")


def _plain(steps: float, longest: int) -> str:
    return f"> {longest}" if steps > longest else f"{steps:.0f}"


def _waiting(times: CensoredTimes | None) -> str:
    if times is None:
        return NOTHING
    median = np.inf if times.median is None else times.median
    return f"{_plain(median, int(times.steps.max()))} ({_percent(times.share)})"
