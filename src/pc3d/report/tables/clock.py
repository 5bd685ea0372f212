"""The table of wall-clock time: ours as training recorded it, the paper's below."""

from __future__ import annotations

import numpy as np

from pc3d.report.names import method_title, methods_in_order, task_title
from pc3d.report.paper_numbers import CLOCKED_EPISODES, seconds_per_512, seconds_per_update
from pc3d.report.runs import Run, Runs
from pc3d.report.tables.table import NOTHING, Cell, Table
from pc3d.runs.metrics import read_lines

CAPTION = (
    "Seconds per learner update and per 512 training episodes, median over n seeds, so that one that was "
    "held up counts no more than others: everything from the first update to the last (playing, learning, "
    "compiling, evaluating on the way) on the machine the runs were made on. The paper's are one thread of a "
    "Threadripper PRO 7995WX. It prints seconds per update; those per 512 episodes are inferred: for the "
    "MAPPO family the printed numbers are whole when multiplied by 8, so the 512 episodes it clocked "
    "apparently had 8 updates. For IPPO nothing can be inferred (–)."
)


def clock_table(runs: Runs) -> Table | None:
    """One row per method whose runs were clocked."""
    given = {method for task in runs.tasks for method in runs.methods(task)}
    methods = [
        method
        for method in methods_in_order(given)
        if any(measured_seconds_per_update(run) for task in runs.tasks for run in runs.finished(task, method))
    ]
    if not methods:
        return None
    return Table(
        name="wall-clock",
        title="Wall-clock time for policy updates",
        caption=CAPTION,
        columns=("Method", *("per update", "per 512 episodes") * len(runs.tasks)),
        rows=tuple(
            (
                Cell(method_title(method)),
                *(cell for task in runs.tasks for cell in _cells(runs, task, method)),
            )
            for method in methods
        ),
        groups=tuple((task_title(task).name, 2) for task in runs.tasks),
    )


def _cells(runs: Runs, task: str, method: str) -> tuple[Cell, Cell]:
    clocked = [(run, measured_seconds_per_update(run)) for run in runs.finished(task, method)]
    times = [(seconds, seconds * _updates_per_512(run)) for run, seconds in clocked if seconds is not None]
    texts = (
        [f"{value:.2f} s (n={len(times)})" for value in np.median(times, axis=0)] if times else [NOTHING] * 2
    )
    per_update, per_512 = seconds_per_update(method, task), seconds_per_512(method, task)
    if per_update is None:
        return Cell(texts[0]), Cell(texts[1])
    inferred = NOTHING if per_512 is None else f"{per_512:,.0f} s"
    return Cell(texts[0], note=f"paper {per_update:.2f} s"), Cell(texts[1], note=f"paper {inferred}")


def measured_seconds_per_update(run: Run) -> float | None:
    """A run's seconds per update over all its sittings; nothing if it was never clocked."""
    sittings = read_lines(run.folder.clock)
    updates = sum(sitting["updates"] for sitting in sittings)
    return sum(sitting["seconds"] for sitting in sittings) / updates if updates else None


def _updates_per_512(run: Run) -> float:
    return CLOCKED_EPISODES / run.experiment.episodes_per_update
