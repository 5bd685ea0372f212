"""How training went, stage by stage: what methods learned, and how fast their policies and critics moved."""

import numpy as np

from pc3d.report.names import heading, method_title, task_title
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
