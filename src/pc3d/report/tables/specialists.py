"""What one policy for all team sizes gives up, or gains, against policies trained for one size alone."""

import numpy as np
from jaxtyping import Float

from pc3d.report.figures.style import Figure, color_of, drawn, tidy
from pc3d.report.names import agents, heading, method_title, task_title
from pc3d.report.runs import Runs
from pc3d.report.statistics import over_seeds
from pc3d.report.tables.results import spread_text
from pc3d.report.tables.table import NOTHING, Table, make_table

Returns = Float[np.ndarray, " seed"]


def specialist_runs(runs: Runs) -> Runs:
    """The scored runs for one team size alone, by themselves."""
    return Runs(tuple(run for run in runs.specialists if run.complete), runs.references)


def specialist_table(runs: Runs, task: str) -> Table | None:
    """One row per team size; for each method the specialist, the policy for all sizes and the difference."""
    methods = specialist_runs(runs).methods(task)
    rows = [
        (agents(size), *(text for method in methods for text in _texts(runs, task, method, size)))
        for size in _sizes(runs, task)
    ]
    columns = ("Team size", *("specialist", "all sizes", "difference") * len(methods))
    groups = [(method_title(method), 3) for method in methods]
    return make_table(heading("specialists", task), columns, rows, groups)


def specialist_figure(runs: Runs, task: str) -> Figure:
    """Returns over team size: filled marks for the policy for all sizes, open ones for specialists."""
    words = heading("specialists-by-size", task, name="specialists", caption="specialists")
    kinds = (("all sizes", runs, "o-", None), ("specialists", specialist_runs(runs), "o--", "none"))
    sizes = _sizes(runs, task)
    with drawn(words, (5.2, 3.0)) as figure:
        axes = figure.drawing.subplots()
        for method in specialist_runs(runs).methods(task):
            for label, players, line, filling in kinds:
                returns = {size: returns_at(size, players, task, method) for size in sizes}
                means = {size: float(values.mean()) for size, values in returns.items() if len(values)}
                name, color = f"{method_title(method)}, {label}", color_of(method)
                places, heights = list(means), list(means.values())
                axes.plot(places, heights, line, color=color, markerfacecolor=filling, label=name)
        axes.set(xticks=sizes, xlabel="team size", ylabel="return")
        tidy(axes)
        figure.drawing.legend(loc="outside lower center", ncols=2)
    return figure


def returns_at(size: int, runs: Runs, task: str, method: str) -> Returns:
    """Each seed's mean return at this size, of those runs that were trained for it, alone or among others."""
    trained = [run for run in runs.of(task, method) if size in run.experiment.rosters.all]
    means = [run.scores.means((size,))[0] for run in trained if run.scores and run.complete]
    return np.array(means) * task_title(task).scale


def _texts(runs: Runs, task: str, method: str, size: int) -> tuple[str, str, str]:
    alone, shared = (returns_at(size, players, task, method) for players in (specialist_runs(runs), runs))
    difference = f"{shared.mean() - alone.mean():+.2f}" if len(alone) and len(shared) else NOTHING
    return _spread(alone), _spread(shared), difference


def _spread(returns: Returns) -> str:
    return spread_text(over_seeds(returns)) if len(returns) else NOTHING


def _sizes(runs: Runs, task: str) -> list[int]:
    return sorted({run.experiment.rosters.largest for run in specialist_runs(runs).of(task)})
