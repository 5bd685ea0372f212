"""Context recovery and use as pictures: alignment and gate by team size, and alignment over time."""

from __future__ import annotations

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import Rectangle

from pc3d.report.figures.style import INK, Figure, house_style, tidy
from pc3d.report.names import method_title, task_title
from pc3d.report.runs import Runs
from pc3d.report.statistics import over_seeds
from pc3d.report.tables.context import Context, contexts, numbers

CELL_WIDTH, CELL_HEIGHT = 0.95, 0.8  # inches
COLORS = colormaps["cividis"]  # made to look the same to people of any colour vision
ALIGNMENTS = Normalize(0, 1)
BRIGHT = 0.48  # from here on dark text is easier to read on the colour
SPLIT_LINES = {"train": "-", "validation": "--", "test": ":", "other": "-."}


def context_map(runs: Runs, task: str, name: str) -> Figure | None:
    """A row for each method with a context, a cell for each team size."""
    found = contexts(runs, task)
    if not found:
        return None
    sizes = runs.rosters(task).all
    with house_style():
        drawing = Drawing(figsize=(CELL_WIDTH * len(sizes) + 2.4, CELL_HEIGHT * len(found) + 0.9))
        axes = drawing.subplots()
        for row, several in enumerate(found.values()):
            for column, size in enumerate(sizes):
                _cell(axes, column, row, several, size)
        _map_axes(axes, runs, task, found)
        bar = drawing.colorbar(ScalarMappable(ALIGNMENTS, COLORS), ax=axes, pad=0.02, aspect=12)
        bar.set_label("alignment")
        bar.outline.set_visible(False)
        bar.ax.tick_params(length=0)
    rollouts = sorted({context.rollouts for several in found.values() for context in several})
    caption = (
        f"{' or '.join(map(str, rollouts))} rollouts per team size. Colour: cosine between the student's "
        "context and the averaged teacher's (less than 0 is drawn as 0). Text: the gate's mean ± its "
        "standard deviation across n seeds, and below it the mean deviation within an episode."
    )
    return Figure(name, f"{task_title(task).name}: context recovery and use", caption, drawing)


def alignment_over_time(runs: Runs, task: str, name: str, method: str = "pc3d") -> Figure | None:
    """How soon in an episode the context is recovered: a line for each team size."""
    several = contexts(runs, task).get(method)
    if not several:
        return None
    rosters = runs.rosters(task)
    with house_style():
        drawing = Drawing(figsize=(6.4, 3.2))
        axes = drawing.subplots()
        shades = COLORS(np.linspace(0.15, 0.85, len(rosters.all)))
        for size, shade in zip(rosters.all, shades, strict=True):
            curves = [
                context.by_size[size]["alignment_by_step"] for context in several if size in context.by_size
            ]
            if curves:
                steps = min(map(len, curves))
                mean = np.mean([curve[:steps] for curve in curves], axis=0)
                split = rosters.split_of(size)
                label = f"{size} ({split})"
                axes.plot(
                    np.arange(1, steps + 1), mean, SPLIT_LINES[split], color=shade, linewidth=1.5, label=label
                )
        tidy(axes)
        axes.set_xlabel("time step")
        axes.set_ylabel("alignment")
        drawing.legend(title="team size", loc="outside right upper")
    title = f"{task_title(task).name}: {method_title(method)}'s context alignment over an episode"
    return Figure(name, title, f"Mean over agents, rollouts and {len(several)} seed(s).", drawing)


def _cell(axes: Axes, column: int, row: int, several: list[Context], size: int) -> None:
    alignments = numbers(several, size, "alignment")
    if not len(alignments):
        axes.text(column, row, "–", ha="center", va="center")
        return
    alignment = float(np.mean(alignments))
    gate = over_seeds(numbers(several, size, "gate_mean"))
    within = float(np.mean(numbers(several, size, "gate_deviation")))
    axes.add_patch(
        Rectangle((column - 0.48, row - 0.46), 0.96, 0.92, facecolor=COLORS(ALIGNMENTS(alignment)))
    )
    ink = "#101216" if ALIGNMENTS(alignment) > BRIGHT else "#ffffff"
    deviation = "" if gate.deviation is None else f" ± {gate.deviation:.2f}"
    axes.text(
        column, row - 0.12, f"{gate.mean:.2f}{deviation}", ha="center", va="center", color=ink, fontsize=8.5
    )
    axes.text(column, row + 0.2, f"within {within:.2f}", ha="center", va="center", color=ink, fontsize=7)


def _map_axes(axes: Axes, runs: Runs, task: str, found: dict[str, list[Context]]) -> None:
    rosters = runs.rosters(task)
    axes.set_xlim(-0.5, len(rosters.all) - 0.5)
    axes.set_ylim(len(found) - 0.5, -0.5)
    axes.set_xticks(range(len(rosters.all)), [f"{size}\n{rosters.split_of(size)}" for size in rosters.all])
    rows = [f"{method_title(method)}\n(n={len(several)})" for method, several in found.items()]
    axes.set_yticks(range(len(found)), rows)
    axes.set_xlabel("team size")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.xaxis.label.set_color(INK)
