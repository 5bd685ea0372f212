"""The table of robust statistics: how good a method is on a common scale, and how sure we are of it."""

from collections.abc import Callable

from pc3d.experiment.methods import OURS
from pc3d.report.names import heading, method_title
from pc3d.report.runs import Runs
from pc3d.report.statistics import (
    RESAMPLES,
    Estimate,
    Matrix,
    estimate,
    interquartile_mean,
    normalised,
    paired_difference,
    probability_of_improvement,
    sizes_as_strata,
)
from pc3d.report.tables.table import NOTHING, Cell, Row, Table, make_table

COLUMNS = (
    *("Method", "IQM, seen", "IQM, unseen", "seen minus unseen"),
    *("PC3D minus it, unseen", "P(PC3D better), unseen"),
)


def statistics_table(runs: Runs, task: str) -> Table | None:
    """One row per method that has scores; nothing where no references set the scale."""
    rosters = runs.rosters(task)
    unseen = rosters.validation + rosters.test
    if not unseen or runs.reference_range(task) is None:
        return None
    methods = [method for method in runs.methods(task) if runs.scored(task, method)]
    rows = [_row(runs, task, method, rosters.train, unseen) for method in methods]
    return make_table(heading("statistics", task, resamples=RESAMPLES), COLUMNS, rows)


def _row(runs: Runs, task: str, method: str, seen: tuple[int, ...], unseen: tuple[int, ...]) -> Row:
    at_seen, at_unseen = (on_common_scale(runs, task, method, sizes) for sizes in (seen, unseen))
    return (
        method_title(method),
        _with_strata(interquartile_mean, at_seen),
        _with_strata(interquartile_mean, at_unseen),
        _text(paired_difference(at_seen, at_unseen)),
        *_against_ours(runs, task, method, unseen),
    )


def _against_ours(runs: Runs, task: str, method: str, sizes: tuple[int, ...]) -> Row:
    """PC3D minus the method on the seeds both have, and how often PC3D is better, on all seeds."""
    our_seeds, their_seeds = ([scores.seed for scores in runs.scored(task, name)] for name in (OURS, method))
    if method == OURS or not our_seeds:
        return NOTHING, NOTHING
    ours, theirs = (on_common_scale(runs, task, name, sizes) for name in (OURS, method))
    common = sorted(set(our_seeds) & set(their_seeds))
    our_rows, their_rows = ([seeds.index(seed) for seed in common] for seeds in (our_seeds, their_seeds))
    paired = _text(paired_difference(ours[our_rows], theirs[their_rows])) if common else NOTHING
    return paired, _with_strata(probability_of_improvement, ours, theirs)


def on_common_scale(runs: Runs, task: str, method: str, sizes: tuple[int, ...]) -> Matrix:
    """A method's returns where at each size the random player is 0 and the best reference is 1."""
    bounds = runs.reference_range(task)
    assert bounds is not None, "asked for only where references exist"
    places = [runs.rosters(task).all.index(size) for size in sizes]
    low, high = (bound[places] for bound in bounds)
    return normalised(runs.matrix(task, method, sizes), low, high)


def _with_strata(statistic: Callable[..., float], *samples: Matrix) -> Cell:
    """A statistic with its interval; below it the interval with sizes as strata."""
    stratified = estimate(statistic, *samples, resampling=sizes_as_strata)
    note = f"strata{_interval(stratified)}" if stratified.interval else ""
    return Cell(_text(estimate(statistic, *samples)), note=note)


def _text(found: Estimate) -> str:
    return f"{found.value:.3f}{_interval(found)} (n={found.seeds})"


def _interval(found: Estimate) -> str:
    return "" if found.interval is None else " [{:.3f}, {:.3f}]".format(*found.interval)
