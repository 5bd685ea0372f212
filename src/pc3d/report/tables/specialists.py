"""What one policy for all team sizes gives up, or gains, against policies trained for one size alone."""

import numpy as np
from jaxtyping import Float

from pc3d.report.figures.style import Figure, color_of, drawn, tidy
from pc3d.report.names import agents, heading, method_title, methods_in_order, task_title, tasks_in_order
from pc3d.report.runs import Run, Runs
from pc3d.report.statistics import over_seeds
from pc3d.report.tables.results import spread_text
from pc3d.report.tables.table import NOTHING, Table, make_table

Returns = Float[np.ndarray, " seed"]


def specialist_tasks(runs: Runs) -> list[str]:
    return tasks_in_order({run.experiment.task for run in _scored(runs)})


def specialist_table(runs: Runs, task: str) -> Table | None:
    """One row per team size; for each method the specialist, the policy for all sizes and the difference."""
    methods = _methods(runs, task)
    rows = [
        (agents(size), *(text for method in methods for text in _texts(runs, task, method, size)))
        for size in _sizes(runs, task)
    ]
    columns = ("Team size", *("specialist", "all sizes", "difference") * len(methods))
    return make_table(
        heading("specialists", task), columns, rows, [(method_title(method), 3) for method in methods]
    )


def specialist_figure(runs: Runs, task: str) -> Figure:
    """Returns over team size: filled marks for the policy for all sizes, open ones for specialists."""
    words = heading("specialists-by-size", task, name="specialists", caption="specialists")
    kinds = (("all sizes", open_team_returns, "o-", None), ("specialists", specialist_returns, "o--", "none"))
    sizes = _sizes(runs, task)
    with drawn(words, (5.2, 3.0)) as figure:
        axes = figure.drawing.subplots()
        for method in _methods(runs, task):
            for label, returns_of, line, filling in kinds:
                returns = {size: returns_of(runs, task, method, size) for size in sizes}
                means = {size: float(values.mean()) for size, values in returns.items() if len(values)}
                axes.plot(
                    list(means),
                    list(means.values()),
                    line,
                    color=color_of(method),
                    markerfacecolor=filling,
                    label=f"{method_title(method)}, {label}",
                )
        axes.set(xticks=sizes, xlabel="team size", ylabel="return")
        tidy(axes)
        figure.drawing.legend(loc="outside lower center", ncols=2)
    return figure


def specialist_returns(runs: Runs, task: str, method: str, size: int) -> Returns:
    """Each seed's mean return of the policy that was trained for this size alone."""
    means = [
        run.scores.means((size,))[0]
        for run in _scored(runs, task)
        if run.scores and run.experiment.method == method and run.experiment.rosters.all == (size,)
    ]
    return np.array(means) * task_title(task).scale


def open_team_returns(runs: Runs, task: str, method: str, size: int) -> Returns:
    """Each seed's mean return at this size of the policy that was trained for all of them."""
    if task not in runs.tasks or size not in runs.rosters(task).all:
        return np.array([])
    return runs.matrix(task, method, (size,))[:, 0] * task_title(task).scale


def _texts(runs: Runs, task: str, method: str, size: int) -> tuple[str, str, str]:
    alone = specialist_returns(runs, task, method, size)
    shared = open_team_returns(runs, task, method, size)
    difference = f"{shared.mean() - alone.mean():+.2f}" if len(alone) and len(shared) else NOTHING
    return _spread(alone), _spread(shared), difference


def _spread(returns: Returns) -> str:
    return spread_text(over_seeds(returns)) if len(returns) else NOTHING


def _scored(runs: Runs, task: str | None = None) -> list[Run]:
    scored = [run for run in runs.specialists if run.folder.done and run.complete]
    return [run for run in scored if task in (None, run.experiment.task)]


def _methods(runs: Runs, task: str) -> list[str]:
    return methods_in_order({run.experiment.method for run in _scored(runs, task)})


def _sizes(runs: Runs, task: str) -> list[int]:
    return sorted({run.experiment.rosters.largest for run in _scored(runs, task)})
