"""What a method returns against what it needs when it acts: a ladder, whose lowest step needs the most."""

from itertools import groupby

from jaxtyping import Float
from matplotlib.axes import Axes
from numpy import ndarray

from pc3d.experiment.methods import OURS
from pc3d.report.figures.style import INK, Figure, color_of, drawn
from pc3d.report.figures.team_sizes import measure_of, told_of_measure, values_of
from pc3d.report.names import heading, method_title, methods_in_order, task_title
from pc3d.report.prose import at_sizes
from pc3d.report.runs import Runs
from pc3d.report.statistics import mean_of
from pc3d.report.story import TaskStory
from pc3d.report.tables.execution import AtExecution, at_execution

NAMES_WIDTH, PANEL_WIDTH, ROW_HEIGHT = 1.3, 3.2, 0.24  # inches
Rung = AtExecution | str  # a method, or what those below it need


def execution_figure(runs: Runs) -> Figure | None:
    """Methods below each other, by what they need; a panel for each task."""
    found = {task: scored for task in runs.tasks if (scored := _scored(runs, task))}
    if not found:
        return None
    ladder = _ladder([one for scored in found.values() for one in scored])
    ours = any(one.method == OURS for scored in found.values() for one in scored)
    words = heading(
        "execution-ladder",
        name="execution",
        measure=told_of_measure(runs, found),
        sizes=at_sizes(list(dict.fromkeys(TaskStory(runs, task).last_split for task in found))),
        ours=f" The thin line is {method_title(OURS)}'s mean." if ours else "",
    )
    size = (NAMES_WIDTH + PANEL_WIDTH * len(found), 0.9 + ROW_HEIGHT * len(ladder))
    with drawn(words, size) as figure:
        panels = figure.drawing.subplots(1, len(found), sharey=True, squeeze=False)[0]
        for axes, (task, scored) in zip(panels, found.items(), strict=True):
            _panel(axes, runs, task, scored, ladder)
        _name(panels[0], ladder)
    return figure


def _scored(runs: Runs, task: str) -> list[AtExecution]:
    return [one for one in at_execution(runs, task) if runs.scored(task, one.method)]


def _ladder(scored: list[AtExecution]) -> list[Rung]:
    """From the top: each need, and below it the methods with it."""
    by_method = {one.method: one for one in scored}
    in_order = (by_method[method] for method in methods_in_order(set(by_method)))
    ordered = sorted(in_order, key=lambda one: one.order)
    return [rung for need, group in groupby(ordered, lambda one: one.most) for rung in (need, *group)]


def _panel(axes: Axes, runs: Runs, task: str, scored: list[AtExecution], ladder: list[Rung]) -> None:
    heights = {rung.method: -place for place, rung in enumerate(ladder) if isinstance(rung, AtExecution)}
    for one in scored:
        found, color = mean_of(_returns(runs, task, one.method)), color_of(one.method)
        height = heights[one.method]
        if found.interval is not None:
            axes.plot(found.interval, (height, height), color=color, linewidth=1.8, solid_capstyle="butt")
        axes.plot(found.value, height, "o", color=color, markersize=5.5)
        if one.method == OURS:
            axes.axvline(found.value, color=color, linewidth=0.8, alpha=0.6, zorder=0)
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    axes.spines["left"].set_visible(False)
    axes.set_title(task_title(task).name, loc="left")
    axes.set_xlabel(measure_of(runs, task))


def _returns(runs: Runs, task: str, method: str) -> Float[ndarray, " seed"]:
    return values_of(runs, task, method, TaskStory(runs, task).last_sizes).mean(axis=1)


def _name(axes: Axes, ladder: list[Rung]) -> None:
    """Methods at the left; what they need over them, where nothing is drawn."""
    places = [-place for place, rung in enumerate(ladder) if isinstance(rung, AtExecution)]
    names = [method_title(rung.method) for rung in ladder if isinstance(rung, AtExecution)]
    axes.set_yticks(places, names)
    axes.set_ylim(0.6 - len(ladder), 0.6)
    for place, rung in enumerate(ladder):
        if isinstance(rung, str):
            words = f"needs {rung}"
            axes.annotate(
                words,
                (0, -place),
                xycoords=("axes fraction", "data"),
                va="center",
                color=INK,
                fontsize=8.5,
                fontstyle="italic",
            )
