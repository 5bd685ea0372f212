"""Context recovery and use as pictures: alignment and gate by team size, and alignment over time."""

from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle

from pc3d.experiment.methods import OURS
from pc3d.report.figures.style import INK, Figure, drawn, tidy
from pc3d.report.names import heading, method_title
from pc3d.report.runs import Runs
from pc3d.report.statistics import over_seeds
from pc3d.report.tables.context import Context, contexts, means_over_sizes, rollouts_of

CELL_WIDTH, CELL_HEIGHT = 0.95, 0.8  # inches
COLORS = colormaps["cividis"]  # made to look the same to people of any colour vision
ALIGNMENTS = Normalize(0, 1)
BRIGHT = 0.48  # from here on dark text is easier to read on the colour
SPLIT_LINES = {"train": "-", "validation": "--", "test": ":", "other": "-."}


def context_map(runs: Runs, task: str) -> Figure | None:
    """A row for each method with a context, a cell for each team size."""
    found, sizes = contexts(runs, task), runs.rosters(task).all
    if not found:
        return None
    words = heading("context", task, rollouts=rollouts_of(found))
    with drawn(words, (CELL_WIDTH * len(sizes) + 2.4, CELL_HEIGHT * len(found) + 0.9)) as figure:
        axes = figure.drawing.subplots()
        for row, several in enumerate(found.values()):
            for column, size in enumerate(sizes):
                _cell(axes, column, row, several, size)
        _map_axes(axes, runs, task, found)
        bar = figure.drawing.colorbar(ScalarMappable(ALIGNMENTS, COLORS), ax=axes, pad=0.02, aspect=12)
        bar.set_label("alignment")
        bar.outline.set_visible(False)
        bar.ax.tick_params(length=0)
    return figure


def alignment_over_time(runs: Runs, task: str) -> Figure | None:
    """How soon in an episode PC3D's context is recovered: a line for each team size."""
    several, rosters = contexts(runs, task).get(OURS), runs.rosters(task)
    if not several:
        return None
    words = heading("alignment", task, method=method_title(OURS), seeds=len(several))
    with drawn(words, (6.4, 3.2)) as figure:
        axes = figure.drawing.subplots()
        shades = COLORS(np.linspace(0.15, 0.85, len(rosters.all)))
        for size, shade in zip(rosters.all, shades, strict=True):
            found = [context.by_size[size] for context in several if size in context.by_size]
            curves = list(zip(*(each["alignment_by_step"] for each in found), strict=False))
            split = rosters.split_of(size)
            line = {"linestyle": SPLIT_LINES[split], "label": f"{size} ({split})", "color": shade}
            if curves:
                axes.plot(np.arange(1, len(curves) + 1), np.mean(curves, axis=1), linewidth=1.5, **line)
        tidy(axes)
        axes.set(xlabel="time step", ylabel="alignment")
        if axes.lines:
            figure.drawing.legend(title="team size", loc="outside right upper")
    return figure


def _cell(axes: Axes, column: int, row: int, several: list[Context], size: int) -> None:
    alignments, gates, deviations = (
        means_over_sizes(several, (size,), name) for name in ("alignment", "gate_mean", "gate_deviation")
    )
    if alignments is None or gates is None or deviations is None:
        axes.text(column, row, "–", ha="center", va="center")
        return
    alignment, gate, within = np.mean(alignments), over_seeds(gates), np.mean(deviations)
    color = COLORS(ALIGNMENTS(alignment))
    axes.add_patch(Rectangle((column - 0.48, row - 0.46), 0.96, 0.92, facecolor=color))
    ink = "#101216" if ALIGNMENTS(alignment) > BRIGHT else "#ffffff"
    centred: dict[str, Any] = {"ha": "center", "va": "center", "color": ink}
    deviation = "" if gate.deviation is None else f" ± {gate.deviation:.2f}"
    axes.text(column, row - 0.12, f"{gate.mean:.2f}{deviation}", fontsize=8.5, **centred)
    axes.text(column, row + 0.2, f"within {within:.2f}", fontsize=7, **centred)


def _map_axes(axes: Axes, runs: Runs, task: str, found: dict[str, list[Context]]) -> None:
    rosters = runs.rosters(task)
    axes.set(xlim=(-0.5, len(rosters.all) - 0.5), ylim=(len(found) - 0.5, -0.5), xlabel="team size")
    axes.set_xticks(range(len(rosters.all)), [f"{size}\n{rosters.split_of(size)}" for size in rosters.all])
    rows = [f"{method_title(method)}\n(n={len(several)})" for method, several in found.items()]
    axes.set_yticks(range(len(found)), rows)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.xaxis.label.set_color(INK)
