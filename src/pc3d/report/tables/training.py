"""How training went, stage by stage: what methods learned, and how fast their policies and critics moved."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from pc3d.report.names import file_name, method_title, task_title
from pc3d.report.runs import Run, Runs
from pc3d.report.tables.table import NOTHING, Cell, Table
from pc3d.runs.metrics import Line, episodes_in, read_lines

MEASURES = {
    "return": "training return",
    "loss_value": "value loss",
    "divergence": "divergence",
    "entropy": "entropy",
}
DIGITS = ".3g"
CAPTION = (
    "Means over the episodes of a stage and over n seeds, with the lowest and the highest seed below. "
    "Returns are of the stage's team sizes. Value losses are of normalised targets: about 1 is as good as "
    "knowing the mean. Divergence (nats) is that of the policy from the one that played, a mean over an "
    "update's gradient steps."
)


def training_table(runs: Runs, task: str) -> Table | None:
    """One row per method and stage; nothing where no run has a history."""
    rows = [
        (
            Cell(method_title(method)),
            Cell(str(stage)),
            *(_cell(histories, name, stage, task) for name in MEASURES),
        )
        for method in runs.methods(task)
        if (histories := [history for run in runs.finished(task, method) if (history := means_by_stage(run))])
        for stage in sorted(set.intersection(*map(set, histories)))
    ]
    if not rows:
        return None
    return Table(
        name=file_name("training", task),
        title=f"{task_title(task).with_scale}: training, stage by stage",
        caption=CAPTION,
        columns=("Method", "stage", *MEASURES.values()),
        rows=tuple(rows),
    )


Means = dict[str, float]  # of a stage, by measure


def means_by_stage(run: Run) -> dict[int, Means]:
    stages = groupby(read_lines(run.folder.metrics), key=lambda line: line["stage"])
    return {stage: _means(list(lines)) for stage, lines in stages}


def _means(lines: list[Line]) -> Means:
    """A line weighs its episodes, so that a record's fewer lines have the same mean.

    A measure that no line has is left out.
    """
    means = {}
    for name in MEASURES:
        having = [line for line in lines if name in line]
        if having:
            weights = [episodes_in(line) for line in having]
            means[name] = float(np.average([line[name] for line in having], weights=weights))
    return means


def _cell(histories: list[dict[int, Means]], name: str, stage: int, task: str) -> Cell:
    scale = task_title(task).scale if name == "return" else 1.0
    values = [history[stage][name] * scale for history in histories if name in history[stage]]
    if not values:
        return Cell(NOTHING)
    text = f"{np.mean(values):{DIGITS}} (n={len(values)})"
    return Cell(text, note=f"{min(values):{DIGITS}} to {max(values):{DIGITS}}" if len(values) > 1 else "")
