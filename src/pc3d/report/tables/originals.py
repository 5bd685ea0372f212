"""Trained policies on the original packages beside their scores on the ports, from the same starts."""

from __future__ import annotations

import numpy as np

from pc3d.report.names import file_name, method_title, task_title
from pc3d.report.runs import Run, Runs
from pc3d.report.statistics import mean_over_pairs
from pc3d.report.tables.differences import difference_cell
from pc3d.report.tables.table import NOTHING, Cell, Table

ROUNDING_DECIMALS = 3  # of a difference between two sums of 32-bit numbers
CAPTION = (
    "Mean return of the rollouts of one policy on our port of the task and on the original package, from the "
    "same starts. The difference has the 95 % interval of Student's t over pairs of rollouts, bold where it "
    "leaves zero out, as one in twenty would by chance. The largest difference within a pair tells how far "
    f"two games came apart; what is less than {10**-ROUNDING_DECIMALS} is taken for rounding."
)


def originals_table(runs: Runs, task: str) -> Table | None:
    """One row per policy and team size that was scored on both."""
    rows = [
        _row(run, size, task_title(task).scale)
        for method in runs.methods(task)
        for run in runs.finished(task, method)
        for size in _sizes(run)
    ]
    if not rows:
        return None
    return Table(
        name=file_name("originals", task),
        title=f"{task_title(task).with_scale}: port and original",
        caption=CAPTION,
        columns=("Policy", "team size", "split", "port", "original", "original minus port", "largest"),
        rows=tuple(rows),
    )


def _sizes(run: Run) -> list[int]:
    if run.scores is None or run.scores_on_originals is None:
        return []
    return sorted(set(run.scores.returns) & set(run.scores_on_originals.returns))


def _scored_alike(run: Run) -> bool:
    """Whether rollouts of one number are of one policy, from one start, with actions chosen alike."""
    rules = ("policy_sha256", "starts_seed", "actions")
    return all(run.evaluation.get(rule) == run.evaluation_on_originals.get(rule) for rule in rules)


def _row(run: Run, size: int, scale: float) -> tuple[Cell, ...]:
    assert run.scores is not None
    assert run.scores_on_originals is not None
    port, original = (scores.returns[size] * scale for scores in (run.scores, run.scores_on_originals))
    experiment = run.experiment
    about = (
        Cell(f"{method_title(experiment.method)}, seed {experiment.seed}"),
        Cell(str(size)),
        Cell(experiment.rosters.split_of(size)),
        Cell(f"{port.mean():.2f} (n={len(port)})"),
        Cell(f"{original.mean():.2f} (n={len(original)})"),
    )
    if len(port) != len(original) or not _scored_alike(run):
        return *about, Cell(NOTHING), Cell(NOTHING)
    apart = original - port
    beyond_rounding = np.round(apart, ROUNDING_DECIMALS) + 0.0  # no -0
    return *about, difference_cell(mean_over_pairs(beyond_rounding)), Cell(f"{np.abs(apart).max():.1g}")
