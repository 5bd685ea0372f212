"""A search as a picture: how the best return grew, and the return over each setting that was searched."""

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from pc3d.jobs.tuning.plan import Plan
from pc3d.jobs.tuning.space import Between, Row
from pc3d.jobs.tuning.trial_folder import TrialRecord
from pc3d.report.figures.style import FAINT, INK, Figure, color_of, drawn, tidy
from pc3d.system.plain import as_text

COLUMNS = 4


def search_picture(plan: Plan, records: list[TrialRecord], importances: dict[str, float]) -> Figure:
    """The history on top, below it a small panel for each setting, the most important first."""
    rows = sorted(plan.rows, key=lambda row: -importances.get(row.setting, 0.0))
    lines = -(-len(rows) // COLUMNS)
    title = f"{plan.base.task} {plan.base.method}: {len(records)} trials"
    caption = "Mean validation return of each trial's final policy; ticks at the bottom are trials given up."
    with drawn(("search", title, caption), (9, 2.6 + 1.9 * lines)) as figure:
        grid = figure.drawing.add_gridspec(lines + 1, COLUMNS, height_ratios=[1.3] + [1.0] * lines)
        places = range(COLUMNS, COLUMNS * (lines + 1))
        panels = [figure.drawing.add_subplot(grid[place]) for place in places]
        history = figure.drawing.add_subplot(grid[0, :])
        _draw_history(history, color_of(plan.base.method), records)
        scored = [record for record in records if record.score is not None]
        for axes, row in zip(panels, rows, strict=False):
            _draw_setting(axes, color_of(plan.base.method), row, scored)
            share = importances.get(row.setting)
            name = row.setting if share is None else f"{row.setting} ({share:.0%})"
            axes.set_title(name, loc="left", fontsize=7)
        for axes in panels[len(rows) :]:
            axes.set_axis_off()
        history.set_title(title, loc="left")
    return figure


def _draw_history(axes: Axes, color: str, records: list[TrialRecord]) -> None:
    scored = [record for record in records if record.score is not None]
    numbers, returns = [record.number for record in scored], [record.validation for record in scored]
    best = [max(returns[: place + 1]) for place in range(len(returns))]
    end = max(record.number for record in records)
    axes.plot(numbers, returns, "o", color=color, markersize=4)
    axes.step([*numbers, end], [*best, best[-1]], where="post", color=INK, linewidth=1, label="best so far")
    for record in records:
        if record.score is None:
            axes.axvline(record.number, ymax=0.04, color=INK, alpha=FAINT)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("trial")
    axes.set_ylabel("validation return")
    axes.legend(loc="lower right")
    tidy(axes)


def _draw_setting(axes: Axes, color: str, row: Row, scored: list[TrialRecord]) -> None:
    tried = [record.settings[row.setting] for record in scored]
    returns = [record.validation for record in scored]
    if isinstance(row.tried, Between):
        axes.plot(tried, returns, "o", color=color, markersize=3)
        if row.tried.log:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        names = [as_text(value) for value in row.tried.values]
        places = [names.index(as_text(value)) for value in tried]
        axes.plot(places, returns, "o", color=color, markersize=3)
        axes.set_xticks(range(len(names)), names, rotation=25, ha="right", fontsize=6)
        axes.set_xlim(-0.5, len(names) - 0.5)
    axes.tick_params(labelsize=6)
    tidy(axes)
