"""Box plots of evaluation returns: a panel for each team size, a box for each method."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pc3d.report.figures.style import INK, REFERENCE_LINES, Figure, color_of, drawn, tidy
from pc3d.report.names import agents, heading, method_title, task_title
from pc3d.report.runs import Runs

PANELS_PER_ROW = 5  # at most; rows are made equally long
PANEL_WIDTH, PANEL_HEIGHT = 1.9, 2.2  # inches
LARGEST_GAP = 1.0  # in heights of what is shown already; a method further below only gets a marker
Values = dict[str, Float[np.ndarray, " seed"]]  # by method


def return_boxes(runs: Runs, task: str, methods: Sequence[str], prefix: str = "") -> Figure | None:
    """All methods that have scores, at every team size of the task."""
    scored = [method for method in methods if runs.scored(task, method)]
    if not scored:
        return None
    sizes = runs.rosters(task).all
    rows = -(-len(sizes) // PANELS_PER_ROW)
    columns = -(-len(sizes) // rows)
    words = heading("boxes", task, name=f"{prefix}boxes")
    with drawn(words, (PANEL_WIDTH * columns, PANEL_HEIGHT * rows + 0.5)) as figure:
        panels = figure.drawing.subplots(rows, columns, squeeze=False).flatten()
        for axes, size in zip(panels, sizes, strict=False):
            _panel(axes, runs, task, scored, size)
        for axes in panels[len(sizes) :]:
            axes.set_axis_off()
        _legend(figure.drawing, runs, task, scored)
    return figure


def shown_range(values: Values) -> tuple[float, float]:
    """From the best method downwards, until the next one lies too far below to be worth the squeeze."""
    spans = sorted(((float(v.min()), float(v.max())) for v in values.values()), key=lambda span: -span[1])
    low, high = spans[0]
    for below_low, below_high in spans[1:]:
        height = high - low
        # Two methods set the scale: one alone may have no height at all.
        if height > 0 and low - below_high > LARGEST_GAP * height and (low, high) != spans[0]:
            break
        low = min(low, below_low)
    return low, high


def _panel(axes: Axes, runs: Runs, task: str, methods: Sequence[str], size: int) -> None:
    scale = task_title(task).scale
    values = {method: scale * runs.matrix(task, method, (size,))[:, 0] for method in methods}
    low, high = shown_range(values)
    margin = 0.08 * (high - low) or 0.05 * abs(high) or 1.0
    axes.set(ylim=(low - 2 * margin, high + margin), xlim=(-0.6, len(values) - 0.4), xticks=[])
    for place, (method, returns) in enumerate(values.items()):
        if returns.max() < low:
            _below(axes, place, method, float(np.median(returns)))
        else:
            _box(axes, place, method, returns)
    _references(axes, runs, task, size)
    tidy(axes)
    split = runs.rosters(task).split_of(size)
    slant = "normal" if split == "train" else "italic"
    axes.set_title(agents(size), loc="left")
    axes.set_title(split, loc="right", fontsize=8, fontweight="normal", style=slant)


def _box(axes: Axes, place: int, method: str, returns: Float[np.ndarray, " seed"]) -> None:
    color = color_of(method)
    if len(returns) > 1:
        edges = {"color": color, "linewidth": 1.1}
        axes.boxplot(
            returns,
            positions=[place],
            widths=0.62,
            whis=(0, 100),
            showfliers=False,
            patch_artist=True,
            manage_ticks=False,
            boxprops={**_filling(method), "linewidth": 1.1},
            medianprops={"color": color, "linewidth": 2},
            whiskerprops=edges,
            capprops=edges,
        )
    else:
        axes.plot([place - 0.31, place + 0.31], np.repeat(returns, 2), color=color, linewidth=2)
    axes.plot(np.full(len(returns), place), returns, "o", color=color, markersize=3, alpha=0.9)


def _references(axes: Axes, runs: Runs, task: str, size: int) -> None:
    """A line where the range has room for it, and the number below the panel in any case."""
    numbers = []
    for name, player in runs.references.get(task, {}).items():
        if not player.lacking((size,)):
            value = task_title(task).scale * player.means((size,))[0]
            axes.axhline(value, **_reference_line(name))
            numbers.append(f"{method_title(name).lower()} {value:.1f}")
    lines = [", ".join(numbers[:2]), *numbers[2:]]  # as wide as a panel
    axes.set_xlabel("\n".join(lines), fontsize=6.5)


def _below(axes: Axes, place: int, method: str, median: float) -> None:
    """A triangle that points down at the panel's floor, with the median it stands for."""
    bottom = axes.get_ylim()[0]
    axes.plot(place, bottom, "v", color=color_of(method), markersize=7, clip_on=False, zorder=5)
    axes.annotate(
        f"{median:.3g}", (place, bottom), (0, 6), textcoords="offset points", ha="center", fontsize=6.5
    )


def _legend(drawing: Drawing, runs: Runs, task: str, methods: Sequence[str]) -> None:
    boxes = [
        Patch(label=f"{method_title(method)} (n={len(runs.scored(task, method))})", **_filling(method))
        for method in methods
    ]
    lines = [
        Line2D([], [], label=method_title(name), **_reference_line(name))
        for name in runs.references.get(task, {})
    ]
    # Legends fill column by column: the padding puts methods into the first row, references into the second.
    columns = list(zip_longest(boxes, lines, fillvalue=Patch(alpha=0, label="")))
    handles = [handle for column in columns for handle in column]
    drawing.legend(handles=handles, loc="outside lower center", ncols=len(columns))


def _filling(method: str) -> dict[str, Any]:
    return {"facecolor": (color_of(method), 0.3), "edgecolor": color_of(method)}


def _reference_line(name: str) -> dict[str, Any]:
    return {"color": INK, "linewidth": 0.9, "linestyle": REFERENCE_LINES.get(name, "-")}
