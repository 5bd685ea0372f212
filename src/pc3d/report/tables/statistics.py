"""The table of robust statistics: how good a method is on a common scale, and how sure we are of it."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from pc3d.experiment.methods import OURS
from pc3d.report.names import file_name, method_title, task_title
from pc3d.report.runs import Runs
from pc3d.report.statistics import (
    RESAMPLES,
    Estimate,
    improvement_estimate,
    interquartile_mean_estimate,
    normalised,
    paired_difference,
    sizes_as_strata,
    unseen_gap,
)
from pc3d.report.tables.table import NOTHING, Cell, Table

CAPTION = (
    "Returns on a scale where, at every team size, the random player is 0 and the best reference is 1. Seen "
    "sizes are the training split, unseen ones validation and test. Intervals: percentile bootstrap, "
    f"{RESAMPLES:,} resamples. Those beside a number resample whole seeds, because the sizes of a seed are "
    "scores of one policy and rise and fall together; with few seeds even they are somewhat narrow. Those "
    "below (strata) resample seeds for each size anew, as rliable does: they take the sizes for independent, "
    "which makes them too narrow, and are given for comparison with other work. IQM is the interquartile "
    "mean. A single seed has no interval."
)
COLUMNS = (
    "Method",
    "IQM, seen",
    "IQM, unseen",
    "seen minus unseen",
    "PC3D minus it, unseen",
    "P(PC3D better), unseen",
)


def statistics_table(runs: Runs, task: str) -> Table | None:
    """One row per method that has scores; nothing where no references set the scale."""
    methods = [method for method in runs.methods(task) if runs.scored(task, method)]
    rosters = runs.rosters(task)
    unseen = rosters.validation + rosters.test
    if not methods or not unseen or runs.reference_range(task) is None:
        return None
    return Table(
        name=file_name("statistics", task),
        title=f"{task_title(task).name}: normalised returns with 95 % intervals",
        caption=CAPTION,
        columns=COLUMNS,
        rows=tuple(_row(runs, task, method, rosters.train, unseen) for method in methods),
    )


def _row(
    runs: Runs, task: str, method: str, seen: tuple[int, ...], unseen: tuple[int, ...]
) -> tuple[Cell, ...]:
    at_seen, at_unseen = (_on_common_scale(runs, task, method, sizes) for sizes in (seen, unseen))
    return (
        Cell(method_title(method)),
        *(
            _cell(interquartile_mean_estimate(scores), interquartile_mean_estimate(scores, sizes_as_strata))
            for scores in (at_seen, at_unseen)
        ),
        _cell(unseen_gap(at_seen, at_unseen)),
        *_against_ours(runs, task, method, unseen),
    )


def _against_ours(runs: Runs, task: str, method: str, sizes: tuple[int, ...]) -> tuple[Cell, Cell]:
    """PC3D minus the method on the seeds both have, and how often PC3D is better, on all seeds."""
    our_seeds, their_seeds = ([scores.seed for scores in runs.scored(task, name)] for name in (OURS, method))
    if method == OURS or not our_seeds:
        return Cell(NOTHING), Cell(NOTHING)
    ours, theirs = (_on_common_scale(runs, task, name, sizes) for name in (OURS, method))
    improvement = _cell(
        improvement_estimate(ours, theirs), improvement_estimate(ours, theirs, sizes_as_strata)
    )
    common = sorted(set(our_seeds) & set(their_seeds))
    if not common:
        return Cell(NOTHING), improvement
    our_rows, their_rows = ([seeds.index(seed) for seed in common] for seeds in (our_seeds, their_seeds))
    return _cell(paired_difference(ours[our_rows], theirs[their_rows])), improvement


def _on_common_scale(
    runs: Runs, task: str, method: str, sizes: tuple[int, ...]
) -> Float[np.ndarray, "seed size"]:
    bounds = runs.reference_range(task)
    assert bounds is not None, "asked for only where references exist"
    places = [runs.rosters(task).all.index(size) for size in sizes]
    low, high = (bound[places] for bound in bounds)
    return normalised(runs.matrix(task, method, sizes), low, high)


def _cell(estimate: Estimate, stratified: Estimate | None = None) -> Cell:
    """The number with its interval; below it the one with sizes as strata, where there is one."""
    note = f"strata{_interval(stratified)}" if stratified and stratified.interval else ""
    return Cell(f"{estimate.value:.3f}{_interval(estimate)} (n={estimate.seeds})", note=note)


def _interval(estimate: Estimate) -> str:
    return "" if estimate.interval is None else " [{:.3f}, {:.3f}]".format(*estimate.interval)
