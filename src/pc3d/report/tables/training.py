"""How training went: what methods learned stage by stage, how fast they moved, and how long it took."""

import numpy as np

from pc3d.report.names import heading, method_title, task_title
from pc3d.report.paper_numbers import CLOCKED_EPISODES, seconds_per_512, seconds_per_update
from pc3d.report.runs import Run, Runs
from pc3d.report.tables.table import NOTHING, Cell, Row, Table, make_table
from pc3d.runs.metrics import Line, episodes_in

MEASURES = {
    "return": "training return",
    "loss_value": "value loss",
    "divergence": "divergence",
    "entropy": "entropy",
}
DIGITS = ".3g"
Means = dict[str, float]  # of a stage, by measure


def training_table(runs: Runs, task: str) -> Table | None:
    """One row per method and stage; nothing where no run has a history."""
    rows: list[Row] = [
        (method_title(method), str(stage), *(_cell(histories, name, stage, task) for name in MEASURES))
        for method in runs.methods(task)
        if (histories := [history for run in runs.finished(task, method) if (history := means_by_stage(run))])
        for stage in sorted(set.intersection(*map(set, histories)))
    ]
    return make_table(heading("training", task), ("Method", "stage", *MEASURES.values()), rows)


def means_by_stage(run: Run) -> dict[int, Means]:
    return {stage: _means(lines) for stage, lines in run.stages.items()}


def _means(lines: list[Line]) -> Means:
    """A line weighs its episodes, so that a record's fewer lines have the same mean.

    A measure that no line has is left out.
    """
    having = {name: [line for line in lines if name in line] for name in MEASURES}
    return {
        name: float(np.average([line[name] for line in found], weights=list(map(episodes_in, found))))
        for name, found in having.items()
        if found
    }


def _cell(histories: list[dict[int, Means]], name: str, stage: int, task: str) -> Cell:
    scale = task_title(task).scale if name == "return" else 1.0
    values = [history[stage][name] * scale for history in histories if name in history[stage]]
    if not values:
        return Cell(NOTHING)
    text = f"{np.mean(values):{DIGITS}} (n={len(values)})"
    return Cell(text, note=f"{min(values):{DIGITS}} to {max(values):{DIGITS}}" if len(values) > 1 else "")


def clock_table(runs: Runs) -> Table | None:
    """Wall-clock time, the paper's below; one row per method whose runs were clocked."""
    rows: list[Row] = [
        (method_title(method), *(cell for task in runs.tasks for cell in _times(runs, task, method)))
        for method in runs.methods(*runs.tasks)
        if any(measured_seconds_per_update(run) for task in runs.tasks for run in runs.finished(task, method))
    ]
    columns = ("Method", *("per update", "per 512 episodes") * len(runs.tasks))
    groups = [(task_title(task).name, 2) for task in runs.tasks]
    return make_table(heading("wall-clock"), columns, rows, groups)


def _times(runs: Runs, task: str, method: str) -> tuple[Cell, Cell]:
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
    updates = sum(sitting["updates"] for sitting in run.sittings)
    return sum(sitting["seconds"] for sitting in run.sittings) / updates if updates else None
