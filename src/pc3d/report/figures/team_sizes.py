"""The report's first picture: how each method does at each team size, seen and unseen, by task."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D

from pc3d.report.figures.style import INK, Figure, color_of, drawn, line_of, tidy
from pc3d.report.names import heading, method_title, methods_in_order, task_title
from pc3d.report.runs import Runs
from pc3d.report.statistics import Matrix, curve_interval
from pc3d.report.story import TaskStory, scored_methods
from pc3d.report.tables.results import MAIN_RESULTS
from pc3d.report.tables.statistics import on_common_scale

PANEL_HEIGHT, LEGEND_ROW = 2.2, 0.2  # inches
MOST_TICKS = 12
ABOVE: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
WIDTHS = {1: 5.4, 2: 4.6}  # of a panel, by their number; more are narrower
NARROW = 3.5  # as wide as a phone
SCORES = "The score is 0 for random play and 1 for the best reference player at each size; higher is better."
RETURNS = "The mean return at each size; higher is better."


def team_size_chart(runs: Runs, *, narrow: bool = False) -> Figure | None:
    """Panels side by side, or one below the other for a narrow screen."""
    tasks = [task for task in runs.tasks if scored_methods(runs, task)]
    if not tasks:
        return None
    methods = methods_in_order({method for task in tasks for method in _shown(runs, task)})
    columns = 1 if narrow else min(3, len(tasks))
    rows = -(-len(tasks) // columns)
    width = NARROW if narrow else columns * WIDTHS.get(columns, 3.75)
    legend_columns = 2 if narrow else 7
    height = rows * PANEL_HEIGHT + LEGEND_ROW * (2 + len(methods) // legend_columns)
    words = heading(
        "overview-by-size",
        name=f"overview{'-narrow' if narrow else ''}",
        measure=told_of_measure(runs, tasks),
    )
    with drawn(words, (width, height)) as figure:
        panels = figure.drawing.subplots(rows, columns, squeeze=False).flatten()
        for axes, task in zip(panels, tasks, strict=False):
            _panel(axes, runs, task)
        for axes in panels[len(tasks) :]:
            axes.set_axis_off()
        _legend(figure.drawing, methods, legend_columns)
    return figure


def _shown(runs: Runs, task: str) -> list[str]:
    """The methods of the main table, and the one that the story says is ahead."""
    shown = {*MAIN_RESULTS.methods(runs), TaskStory(runs, task).ranked[0]}
    return [method for method in scored_methods(runs, task) if method in shown]


def _panel(axes: Axes, runs: Runs, task: str) -> None:
    rosters = runs.rosters(task)
    sizes = sorted(rosters.all)
    for size in rosters.test:
        axes.axvspan(size - 0.5, size + 0.5, color=INK, alpha=0.08, linewidth=0, zorder=0)
    for method in _shown(runs, task):
        _line(axes, method, sizes, values_of(runs, task, method, sizes), rosters.train)
    tidy(axes)
    axes.set_title(task_title(task).name, loc="left")
    axes.set_xlabel("agents in the team")
    axes.set_ylabel(measure_of(runs, task))
    if len(sizes) <= MOST_TICKS:
        axes.set_xticks(sizes)
    if runs.reference_range(task) is not None:  # all panels from random play to the best reference
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, -0.03), max(high, 1.03))
    if rosters.test:
        middle = (min(rosters.test) + max(rosters.test)) / 2
        axes.annotate("test", (middle, 1), (0, 2), **ABOVE, ha="center", fontsize=7.5)


def _line(axes: Axes, method: str, sizes: Sequence[int], values: Matrix, seen: Sequence[int]) -> None:
    color, mean, trained = color_of(method), values.mean(axis=0), np.isin(sizes, seen)
    axes.plot(sizes, mean, line_of(method), color=color, linewidth=1.5)
    for chosen, face in ((trained, color), (~trained, "none")):
        axes.plot(
            np.array(sizes)[chosen], mean[chosen], "o", color=color, markerfacecolor=face, markersize=4.5
        )
    if len(values) > 1:
        axes.fill_between(sizes, *curve_interval(values), color=color, alpha=0.18, linewidth=0)


def told_of_measure(runs: Runs, tasks: Iterable[str]) -> str:
    """What a panel's numbers are, for a caption."""
    scaled = any(runs.reference_range(task) is not None for task in tasks)
    return SCORES if scaled else RETURNS


def values_of(runs: Runs, task: str, method: str, sizes: Sequence[int]) -> Matrix:
    """Scores where references set the scale, returns elsewhere."""
    if runs.reference_range(task) is not None:
        return on_common_scale(runs, task, method, tuple(sizes))
    return runs.matrix(task, method, sizes) * task_title(task).scale


def measure_of(runs: Runs, task: str) -> str:
    if runs.reference_range(task) is not None:
        return "score"
    scale = task_title(task).scale
    return "return" if scale == 1 else f"return × {scale:g}"


def _legend(drawing: Drawing, methods: Sequence[str], columns: int) -> None:
    lines = [Line2D([], [], **_look(method)) for method in methods]
    dots = [
        Line2D([], [], linestyle="", marker="o", markersize=4, color=INK, markerfacecolor=face, label=label)
        for face, label in ((INK, "trained with"), ("none", "never trained with"))
    ]
    drawing.legend(handles=lines + dots, loc="outside lower center", ncols=columns, handlelength=1.8)


def _look(method: str) -> dict[str, Any]:
    return {"linestyle": line_of(method), "color": color_of(method), "label": method_title(method)}
