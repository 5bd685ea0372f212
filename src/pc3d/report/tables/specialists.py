"""What one policy for all team sizes gives up, or gains, against policies trained for one size alone."""

from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from pc3d.report.figures.style import INK, Figure, color_of, drawn, tidy
from pc3d.report.names import agents, heading, method_title, task_title
from pc3d.report.runs import Runs
from pc3d.report.statistics import difference, mean_of, over_seeds
from pc3d.report.tables.comparisons import difference_cell
from pc3d.report.tables.results import spread_text
from pc3d.report.tables.table import NOTHING, Cell, Table, make_table

Returns = Float[np.ndarray, " seed"]


def specialist_runs(runs: Runs) -> Runs:
    """The scored runs for one team size alone, by themselves."""
    return Runs(tuple(run for run in runs.specialists if run.complete), runs.references)


def specialist_table(runs: Runs, task: str) -> Table | None:
    """One row per team size; for each method the specialist, the policy for all sizes and the difference."""
    methods = specialist_runs(runs).methods(task)
    rows = [
        (
            Cell(agents(size), note=_if_unseen(runs, task, size)),
            *(cell for method in methods for cell in _cells(runs, task, method, size)),
        )
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
                means = {size: mean_of(values) for size, values in returns.items() if len(values)}
                name, color = f"{method_title(method)}, {label}", color_of(method)
                heights = [mean.value for mean in means.values()]
                reaches = [mean.interval[1] - mean.value if mean.interval else 0.0 for mean in means.values()]
                look: dict[str, Any] = {"color": color, "markerfacecolor": filling, "elinewidth": 0.8}
                axes.errorbar(list(means), heights, reaches, fmt=line, **look, label=name)
        for size in filter(partial(_if_unseen, runs, task), sizes):
            axes.axvspan(size - 0.5, size + 0.5, color=INK, alpha=0.06, linewidth=0, zorder=0)
        scale = task_title(task).scale
        ylabel = "return" if scale == 1 else f"return × {scale:g}"
        axes.set(xticks=sizes, xlabel="team size", ylabel=ylabel)
        tidy(axes)
        figure.drawing.legend(loc="outside lower center", ncols=2)
    return figure


def returns_at(size: int, runs: Runs, task: str, method: str) -> Returns:
    """Each seed's mean return at this size, of those runs that were trained for it, alone or among others."""
    trained = [run for run in runs.of(task, method) if size in run.experiment.rosters.all]
    means = [run.scores.means((size,))[0] for run in trained if run.scores and run.complete]
    return np.array(means) * task_title(task).scale


def _cells(runs: Runs, task: str, method: str, size: int) -> tuple[Cell, Cell, Cell]:
    alone, shared = (returns_at(size, players, task, method) for players in (specialist_runs(runs), runs))
    gap = Cell(NOTHING)
    if len(alone) and len(shared):
        gap = difference_cell(difference(over_seeds(shared), over_seeds(alone)))
    return Cell(_spread(alone)), Cell(_spread(shared)), gap


def _if_unseen(runs: Runs, task: str, size: int) -> str:
    """The split of a size that the policies for all sizes never trained with; empty for the others."""
    open_teams = runs.of(task)
    split = open_teams[0].experiment.rosters.split_of(size) if open_teams else "train"
    return "" if split == "train" else split


def _spread(returns: Returns) -> str:
    return spread_text(over_seeds(returns)) if len(returns) else NOTHING


def _sizes(runs: Runs, task: str) -> list[int]:
    return sorted({run.experiment.rosters.largest for run in specialist_runs(runs).of(task)})
