"""Teams around one change: the response to it, and how long recovery takes; a panel for each shock."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from pc3d.evaluation.changing.censored import CensoredTimes
from pc3d.evaluation.changing.read import Shocked
from pc3d.report.changes import Change
from pc3d.report.figures.style import INK, Figure, color_of, drawn, line_of, tidy
from pc3d.report.names import Heading, heading, method_title
from pc3d.report.statistics import curve_interval

PANEL_WIDTH, PANEL_HEIGHT, LEGEND = 2.7, 2.1, 0.5  # inches
NARROWEST = 4.6  # has room for the legend
MOST_COLUMNS = 3
SMOOTHING = 0.1  # of the steps that are shown: single ones are mostly luck


def response_figure(changes: Sequence[Change], task: str) -> Figure | None:
    """What the change has cost at each step since, against the twin without it."""
    return shock_panels(heading("changing-response", task), changes, _draw_response, "reward lost or won")


def survival_figure(changes: Sequence[Change], task: str) -> Figure | None:
    """The share that has not recovered yet, and thin the same of teams that never changed."""
    return shock_panels(heading("changing-recovery", task), changes, _draw_survival, "not recovered")


def shock_panels(
    words: Heading, changes: Iterable[Change], draw: Callable[[Axes, Change], None], measure: str
) -> Figure | None:
    """A panel for each process with one change, a line for each method."""
    shocked = [change for change in changes if change.shocks]
    rosters = list(dict.fromkeys(change.roster for change in shocked))
    if not rosters:
        return None
    columns = min(MOST_COLUMNS, len(rosters))
    rows = -(-len(rosters) // columns)
    with drawn(words, panel_size(rows, columns)) as figure:
        panels = figure.drawing.subplots(rows, columns, squeeze=False, sharex=True).flatten()
        for axes, roster in zip(panels, rosters, strict=False):
            for change in shocked:
                if change.roster == roster:
                    draw(axes, change)
            tidy(axes)
            axes.set_title(roster, loc="left")
            axes.set_xlabel("steps since the change")
        for axes in panels[len(rosters) :]:
            axes.set_axis_off()
        panels[0].set_ylabel(measure)
        methods = dict.fromkeys(change.method for change in shocked)
        figure.drawing.legend(
            handles=[look(method) for method in methods], loc="outside lower center", ncols=4
        )
    return figure


def panel_size(rows: int, columns: int) -> tuple[float, float]:
    return max(PANEL_WIDTH * columns + 0.5, NARROWEST), PANEL_HEIGHT * rows + LEGEND


def look(method: str) -> Line2D:
    """A method's line in a legend."""
    return Line2D([], [], linestyle=line_of(method), color=color_of(method), label=method_title(method))


def aligned(curves: Sequence[tuple[int, Float[np.ndarray, " step"]]]) -> tuple[np.ndarray, np.ndarray]:
    """The steps that all curves have, each from its own first one, and the curves there."""
    first = max(begin for begin, _ in curves)
    end = min(begin + len(values) for begin, values in curves)
    return np.arange(first, end), np.array([values[first - begin : end - begin] for begin, values in curves])


def _draw_response(axes: Axes, change: Change) -> None:
    steps, curves = aligned([(shock.response_from, shock.response) for shock in change.shocks])
    if not len(steps):
        return
    smooth = _smoothed(steps, curves.reshape(len(change.seeds), -1, len(steps)).mean(axis=1))
    axes.plot(
        steps, smooth.mean(axis=0), line_of(change.method), color=color_of(change.method), linewidth=1.5
    )
    if len(smooth) > 1:
        band = curve_interval(smooth)
        axes.fill_between(steps, *band, color=color_of(change.method), alpha=0.18, linewidth=0)
    for place in (axes.axvline, axes.axhline):
        place(0, color=INK, linewidth=0.6, alpha=0.5, zorder=0)


def _smoothed(steps: np.ndarray, curves: Float[np.ndarray, "seed step"]) -> Float[np.ndarray, "seed step"]:
    """A moving average since the change; before it, twins are the same, and nothing may leak there."""
    since = steps >= 0
    window = np.ones(max(1, round(SMOOTHING * since.sum())))
    weights = np.convolve(np.ones(since.sum()), window, "same")
    smooth = curves.copy()
    smooth[:, since] = [np.convolve(curve, window, "same") / weights for curve in curves[:, since]]
    return smooth


def _draw_survival(axes: Axes, change: Change) -> None:
    kinds: tuple[tuple[Callable[[Shocked], CensoredTimes], float], ...] = (
        (lambda shock: shock.recovery, 1.6),
        (lambda shock: shock.unshocked, 0.6),
    )
    for what, width in kinds:
        times = CensoredTimes.together([what(shock) for shock in change.shocks])
        at, left = times.survival()
        end = max(times.steps.max(initial=0), 1)
        heights = [1, *left, left[-1] if len(left) else 1]
        axes.step(
            [0, *at, end],
            heights,
            where="post",
            linestyle=line_of(change.method),
            linewidth=width,
            color=color_of(change.method),
        )
    axes.set_ylim(0, 1.02)
