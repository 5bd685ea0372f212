"""Returns against the rate of churn, beside what constant teams of the same sizes would bring."""

from collections.abc import Sequence

import numpy as np
from matplotlib.lines import Line2D

from pc3d.report.changes import Change
from pc3d.report.figures.shocks import look
from pc3d.report.figures.style import INK, Figure, color_of, drawn, line_of, tidy
from pc3d.report.names import heading, task_title
from pc3d.report.statistics import Estimate, estimate


def churn_figure(changes: Sequence[Change], task: str) -> Figure | None:
    """A line for each method from no change at all to the most; thin and dotted, the mixture."""
    churns = [change for change in changes if change.scores[0].mixture is not None]
    if not churns:
        return None
    scale = task_title(task).scale
    methods = list(dict.fromkeys(change.method for change in churns))
    with drawn(heading("changing-churn", task), (5.4, 3.2)) as figure:
        axes = figure.drawing.subplots()
        for method in methods:
            own = sorted((change for change in churns if change.method == method), key=_rate)
            places = [0.0, *map(_rate, own)]
            still = own[0].units(lambda one: scale * one.unchanged)
            moved = [change.units(lambda one: scale * one.returns) for change in own]
            mixed = [
                change.units(lambda one: None if one.mixture is None else scale * one.mixture)
                for change in own
            ]
            values = [estimate(np.mean, units) for units in (still, *moved) if units is not None]
            means = [value.value for value in values]
            axes.errorbar(places, means, _reaches(values), fmt=f"o{line_of(method)}", color=color_of(method))
            mixture = [means[0], *(float(units.mean()) for units in mixed if units is not None)]
            axes.plot(places, mixture, ":", color=color_of(method), linewidth=1)
        tidy(axes)
        axes.set(xlabel="changes in an episode", ylabel="return" if scale == 1 else f"return × {scale:g}")
        constant = Line2D([], [], linestyle=":", color=INK, label="constant teams of the same sizes")
        figure.drawing.legend(handles=[*map(look, methods), constant], loc="outside lower center", ncols=3)
    return figure


def _rate(change: Change) -> float:
    return float(np.mean([one.changes for one in change.scores]))


def _reaches(values: Sequence[Estimate]) -> np.ndarray:
    """How far the intervals go below and above."""
    ends = np.array([value.interval or (value.value,) * 2 for value in values])
    return np.abs(ends.T - [value.value for value in values])
