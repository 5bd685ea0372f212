"""Trained policies on the original packages beside their scores on the ports, from the same starts."""

from collections.abc import Iterator

import numpy as np

from pc3d.report.names import heading, method_title, task_title
from pc3d.report.runs import Run, Runs
from pc3d.report.statistics import mean_of
from pc3d.report.tables.comparisons import difference_cell
from pc3d.report.tables.table import NOTHING, Row, Table, make_table

ROUNDING_DECIMALS = 3  # of a difference between two sums of 32-bit numbers
COLUMNS = ("Policy", "team size", "split", "port", "original", "original minus port", "largest")


def originals_table(runs: Runs, task: str) -> Table | None:
    """One row per policy and team size that was scored on both."""
    rows = [
        row
        for method in runs.methods(task)
        for run in runs.finished(task, method)
        for row in _rows(run, task_title(task).scale)
    ]
    return make_table(heading("originals", task, rounding=10**-ROUNDING_DECIMALS), COLUMNS, rows)


def _rows(run: Run, scale: float) -> Iterator[Row]:
    ours, theirs, experiment = run.scores, run.scores_on_originals, run.experiment
    if ours is None or theirs is None:
        return
    for size in sorted(ours.returns.keys() & theirs.returns.keys()):
        port, original = (scores.returns[size] * scale for scores in (ours, theirs))
        about = (
            f"{method_title(experiment.method)}, seed {experiment.seed}",
            str(size),
            experiment.rosters.split_of(size),
            f"{port.mean():.2f} (n={len(port)})",
            f"{original.mean():.2f} (n={len(original)})",
        )
        if len(port) != len(original) or not _scored_alike(run):
            yield *about, NOTHING, NOTHING
        else:
            apart = original - port
            beyond_rounding = np.round(apart, ROUNDING_DECIMALS) + 0.0  # no -0
            yield *about, difference_cell(mean_of(beyond_rounding)), f"{np.abs(apart).max():.1g}"


def _scored_alike(run: Run) -> bool:
    """Whether rollouts of one number are of one policy, from one start, with actions chosen alike."""
    rules = ("policy_sha256", "starts_seed", "actions")
    return all(run.evaluation.get(rule) == run.evaluation_on_originals.get(rule) for rule in rules)
