"""What one policy for all team sizes gives up, or gains, against policies trained for one size alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure as Drawing

from pc3d.report.figures.style import Figure, color_of, house_style, tidy
from pc3d.report.names import file_name, method_title, methods_in_order, task_title, tasks_in_order
from pc3d.report.runs import Run, Runs
from pc3d.report.statistics import over_seeds
from pc3d.report.tables.results import spread_text
from pc3d.report.tables.table import NOTHING, Cell, Table

CAPTION = (
    "Mean return at each team size over n seeds (± standard deviation). A specialist was trained at that "
    "size alone, for as many episodes as the policy for all sizes had over all of its sizes; the difference "
    "is the policy for all sizes minus the specialist, so below zero is what being open costs."
)
Returns = Float[np.ndarray, " seed"]


def specialist_tasks(runs: Runs) -> list[str]:
    return tasks_in_order({run.experiment.task for run in _scored(runs)})


def specialist_table(runs: Runs, task: str) -> Table | None:
    """One row per team size; for each method the specialist, the policy for all sizes and the difference."""
    methods = _methods(runs, task)
    rows = [
        (
            Cell(f"{size} agent{'s' if size > 1 else ''}"),
            *(cell for method in methods for cell in _cells(runs, task, method, size)),
        )
        for size in _sizes(runs, task)
    ]
    return Table(
        name=file_name("specialists", task),
        title=f"{task_title(task).with_scale}: one policy for all sizes against specialists",
        caption=CAPTION,
        columns=("Team size", *("specialist", "all sizes", "difference") * len(methods)),
        rows=tuple(rows),
        groups=tuple((method_title(method), 3) for method in methods),
    )


def specialist_figure(runs: Runs, task: str, name: str) -> Figure:
    """Returns over team size: filled marks for the policy for all sizes, open ones for specialists."""
    sizes = _sizes(runs, task)
    with house_style():
        drawing = Drawing(figsize=(5.2, 3.0))
        axes = drawing.subplots()
        for method in _methods(runs, task):
            alone = [specialist_returns(runs, task, method, size) for size in sizes]
            shared = [open_team_returns(runs, task, method, size) for size in sizes]
            color, title = color_of(method), method_title(method)
            axes.plot(*_means(sizes, shared), "o-", color=color, label=f"{title}, all sizes")
            axes.plot(
                *_means(sizes, alone),
                "o--",
                color=color,
                markerfacecolor="none",
                label=f"{title}, specialists",
            )
        axes.set_xticks(sizes)
        axes.set_xlabel("team size")
        axes.set_ylabel("return")
        tidy(axes)
        drawing.legend(loc="outside lower center", ncols=2)
    return Figure(name, f"{task_title(task).with_scale}: specialists by team size", CAPTION, drawing)


def specialist_returns(runs: Runs, task: str, method: str, size: int) -> Returns:
    """Each seed's mean return of the policy that was trained for this size alone."""
    chosen = [
        run
        for run in _scored(runs)
        if (run.experiment.task, run.experiment.method) == (task, method)
        and run.experiment.rosters.all == (size,)
    ]
    means = [run.scores.means((size,))[0] for run in chosen if run.scores]
    return np.array(means) * task_title(task).scale


def open_team_returns(runs: Runs, task: str, method: str, size: int) -> Returns:
    """Each seed's mean return at this size of the policy that was trained for all of them."""
    if task not in runs.tasks or size not in runs.rosters(task).all:
        return np.array([])
    return runs.matrix(task, method, (size,))[:, 0] * task_title(task).scale


def _cells(runs: Runs, task: str, method: str, size: int) -> tuple[Cell, Cell, Cell]:
    alone = specialist_returns(runs, task, method, size)
    shared = open_team_returns(runs, task, method, size)
    known = len(alone) and len(shared)
    difference = f"{shared.mean() - alone.mean():+.2f}" if known else NOTHING
    return _spread_cell(alone), _spread_cell(shared), Cell(difference)


def _spread_cell(returns: Returns) -> Cell:
    return Cell(spread_text(over_seeds(returns)) if len(returns) else NOTHING)


def _means(sizes: Sequence[int], returns: Sequence[Returns]) -> tuple[list[int], list[float]]:
    known = [(size, float(values.mean())) for size, values in zip(sizes, returns, strict=True) if len(values)]
    return [size for size, _ in known], [mean for _, mean in known]


def _scored(runs: Runs) -> list[Run]:
    return [run for run in runs.specialists if run.folder.done and run.complete]


def _methods(runs: Runs, task: str) -> list[str]:
    return methods_in_order({run.experiment.method for run in _scored(runs) if run.experiment.task == task})


def _sizes(runs: Runs, task: str) -> list[int]:
    return sorted({run.experiment.rosters.largest for run in _scored(runs) if run.experiment.task == task})
