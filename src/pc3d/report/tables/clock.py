"""The table of wall-clock time: ours as training recorded it, the paper's below."""

import numpy as np

from pc3d.report.names import heading, method_title, task_title
from pc3d.report.paper_numbers import CLOCKED_EPISODES, seconds_per_512, seconds_per_update
from pc3d.report.runs import Run, Runs
from pc3d.report.tables.table import NOTHING, Cell, Row, Table, make_table
from pc3d.runs.metrics import read_lines


def clock_table(runs: Runs) -> Table | None:
    """One row per method whose runs were clocked."""
    rows: list[Row] = [
        (method_title(method), *(cell for task in runs.tasks for cell in _cells(runs, task, method)))
        for method in runs.methods(*runs.tasks)
        if any(measured_seconds_per_update(run) for task in runs.tasks for run in runs.finished(task, method))
    ]
    columns = ("Method", *("per update", "per 512 episodes") * len(runs.tasks))
    return make_table(
        heading("wall-clock"), columns, rows, [(task_title(task).name, 2) for task in runs.tasks]
    )


def _cells(runs: Runs, task: str, method: str) -> tuple[Cell, Cell]:
    times = [
        (seconds, seconds * (CLOCKED_EPISODES / run.experiment.episodes_per_update))
        for run in runs.finished(task, method)
        if (seconds := measured_seconds_per_update(run)) is not None
    ]
    texts = [f"{value:.2f} s (n={len(times)})" for value in np.median(times, axis=0)] if times else []
    per_update, per_512 = texts or [NOTHING] * 2
    printed, inferred = seconds_per_update(method, task), seconds_per_512(method, task)
    if printed is None:
        return Cell(per_update), Cell(per_512)
    note = NOTHING if inferred is None else f"{inferred:,.0f} s"
    return Cell(per_update, note=f"paper {printed:.2f} s"), Cell(per_512, note=f"paper {note}")


def measured_seconds_per_update(run: Run) -> float | None:
    """A run's seconds per update over all its sittings; nothing if it was never clocked."""
    sittings = read_lines(run.folder.clock)
    updates = sum(sitting["updates"] for sitting in sittings)
    return sum(sitting["seconds"] for sitting in sittings) / updates if updates else None
