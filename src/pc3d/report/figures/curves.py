"""Learning curves: training returns over the curriculum, whole and stage by stage."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FuncFormatter, MaxNLocator

from pc3d.experiment.rosters import Stage
from pc3d.report.figures.style import INK, Figure, color_of, drawn, line_of, tidy
from pc3d.report.names import heading, method_title, task_title
from pc3d.report.runs import Run, Runs
from pc3d.report.statistics import Points, curve_interval
from pc3d.runs.metrics import Line

POINTS_PER_STAGE = 80
SMOOTHING = 0.04  # of a stage's lines: few enough to show a stage's beginning, enough to show a trend


@dataclass(frozen=True)
class StageCurve:
    """A method's training returns in one stage."""

    episodes: Points
    mean: Points
    interval: tuple[Points, Points] | None


Curves = dict[str, dict[int, StageCurve]]  # by method and stage, from 1


def learning_curves(runs: Runs, task: str, methods: Sequence[str], prefix: str = "") -> Figure | None:
    """One panel over the whole training, with a patch for each stage."""
    curves = _curves(runs, task, methods)
    if not curves:
        return None
    panels = "Patches are the curriculum's stages with their team sizes."
    words = heading("curves", task, name=f"{prefix}curves", smoothing=SMOOTHING, panels=panels)
    with drawn(words, (6.4, 3.8)) as figure:
        axes = figure.drawing.subplots()
        _draw(axes, curves)
        _mark_stages(axes, _example(runs, task, curves))
        _label(axes, task)
        _legend(figure.drawing, runs, task, curves)
    return figure


def stage_curves(runs: Runs, task: str, methods: Sequence[str], prefix: str = "") -> Figure | None:
    """A panel for each stage, each on its own scale."""
    curves = _curves(runs, task, methods)
    if not curves:
        return None
    stages = _example(runs, task, curves).experiment.curriculum.stages
    scale = "Every stage has its own scale."
    words = heading(
        "stages", task, name=f"{prefix}stages", caption="curves", smoothing=SMOOTHING, panels=scale
    )
    with drawn(words, (2.6 * len(stages), 2.9)) as figure:
        panels = figure.drawing.subplots(1, len(stages), squeeze=False)[0]
        for number, (axes, stage) in enumerate(zip(panels, stages, strict=True), start=1):
            _draw(axes, curves, number)
            axes.set_title(f"stage {number}: {_sizes(stage)}", loc="left")
            _label(axes, task, with_return=number == 1)
        _legend(figure.drawing, runs, task, curves)
    return figure


def _curves(runs: Runs, task: str, methods: Sequence[str]) -> Curves:
    curves, scale = {}, task_title(task).scale
    for method in methods:
        histories = [run.stages for run in runs.finished(task, method)]
        shared = sorted(set.intersection(*map(set, histories))) if histories else []
        if shared:
            by_stage = {stage: [history[stage] for history in histories] for stage in shared}
            curves[method] = {stage: _over_seeds(lines, scale) for stage, lines in by_stage.items()}
    return curves


def _over_seeds(histories: list[list[Line]], scale: float) -> StageCurve:
    """All seeds at the same episodes: those that every one of them has played."""
    first = max(lines[0]["episodes"] for lines in histories)
    last = min(lines[-1]["episodes"] for lines in histories)
    episodes = np.linspace(first, last, POINTS_PER_STAGE)
    points = [np.array([(line["episodes"], line["return"]) for line in lines]).T for lines in histories]
    curves = scale * np.stack([np.interp(episodes, played, _smoothed(values)) for played, values in points])
    return StageCurve(episodes, curves.mean(axis=0), curve_interval(curves) if len(curves) > 1 else None)


def _smoothed(values: Float[np.ndarray, " line"]) -> Float[np.ndarray, " line"]:
    """A moving average whose window is cut off at both ends."""
    window = np.ones(max(1, round(SMOOTHING * len(values))))
    return np.convolve(values, window, "same") / np.convolve(np.ones(len(values)), window, "same")


def _draw(axes: Axes, curves: Curves, only: int | None = None) -> None:
    """All stages, or one of them."""
    for method, stages in curves.items():
        color = color_of(method)
        for curve in [curve for stage, curve in stages.items() if only in (None, stage)]:
            axes.plot(curve.episodes, curve.mean, line_of(method), color=color, linewidth=1.6)
            if curve.interval:
                axes.fill_between(curve.episodes, *curve.interval, color=color, alpha=0.2, linewidth=0)


def _mark_stages(axes: Axes, example: Run) -> None:
    """Patches of two shades in turn; the sizes stand above the panel."""
    plan, start = example.experiment.curriculum, 0
    for number, end in enumerate(plan.boundaries(example.experiment.episodes)):
        axes.axvspan(start, end, color=INK, alpha=0.10 if number % 2 else 0.04, linewidth=0, zorder=0)
        middle = (start + end) / 2
        axes.annotate(
            _sizes(plan.stages[number]),
            (middle, 1),
            (0, 3),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
            fontsize=7.5,
        )
        start = end
    axes.set_xlim(0, start)


def _sizes(stage: Stage) -> str:
    return "{" + ", ".join(map(str, stage.team_sizes)) + "}"


def _example(runs: Runs, task: str, curves: Curves) -> Run:
    """A run whose curriculum stands for all: the longest, where lengths differ."""
    shown = [run for method in curves for run in runs.finished(task, method)]
    return max(shown, key=lambda run: run.experiment.episodes)


def _label(axes: Axes, task: str, *, with_return: bool = True) -> None:
    tidy(axes)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    thousands = FuncFormatter(lambda value, _: f"{value / 1000:g}k" if value >= 1000 else f"{value:g}")
    axes.xaxis.set_major_formatter(thousands)
    axes.set_xlabel("training episodes")
    if with_return:
        scale = task_title(task).scale
        axes.set_ylabel("return" if scale == 1 else f"return × {scale:g}")


def _legend(drawing: Drawing, runs: Runs, task: str, curves: Curves) -> None:
    for method in curves:
        label = f"{method_title(method)} (n={len(runs.finished(task, method))})"
        drawing.axes[0].plot([], [], line_of(method), color=color_of(method), linewidth=1.8, label=label)
    drawing.legend(loc="outside lower center", ncols=min(4, len(curves)))
