"""How far policies carry: large teams in the task's own world and in one that grows with them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from pc3d.report.figures.style import Figure, color_of, drawn, tidy
from pc3d.report.names import heading, method_title, task_title
from pc3d.report.runs import Runs
from pc3d.report.scores import Scores
from pc3d.report.statistics import Estimate, estimate, normalised
from pc3d.report.tables.table import NOTHING, Row, Table, make_table
from pc3d.tasks.task import WORLDS, World

COLUMNS = ("Policy", "world", "agents", "return", "random", "scripted", "score", "retention", "hindered")


@dataclass(frozen=True)
class Carried:
    """One method at one size of one world."""

    method: str
    world: World
    size: int
    returned: float
    random: float
    scripted: float
    score: Estimate
    retention: Estimate
    hindered: float


def large_team_table(runs: Runs, task: str) -> Table | None:
    """One row for each method, world and size."""
    scale = task_title(task).scale
    rows = [_row(one, scale) for one in carried(runs, task)]
    return make_table(heading("large", task), COLUMNS, rows)


def large_team_figure(runs: Runs, task: str) -> Figure | None:
    """Normalised scores over the team size, one panel for each world."""
    found = list(carried(runs, task))
    if not found:
        return None
    worlds = [world for world in WORLDS if any(one.world == world for one in found)]
    with drawn(heading("large-by-size", task, name="large"), (2.9 * len(worlds) + 0.6, 2.8)) as figure:
        panels = figure.drawing.subplots(1, len(worlds), sharey=True, squeeze=False)[0]
        for axes, world in zip(panels, worlds, strict=True):
            for method in dict.fromkeys(one.method for one in found):
                _line(axes, method, [one for one in found if (one.method, one.world) == (method, world)])
            sizes = sorted({one.size for one in found})
            axes.set_xscale("log", base=2)
            axes.set(xticks=sizes, xticklabels=sizes, xlabel="team size", title=world)
            axes.minorticks_off()
            tidy(axes)
        panels[0].set_ylabel("normalised score")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.drawing.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def carried(runs: Runs, task: str) -> Iterator[Carried]:
    """Every method that was scored with large teams, where random and scripted players were, too."""
    reference = max(runs.rosters(task).train)
    for method in runs.methods(task):
        for world in WORLDS:
            players = runs.large_references.get(world, {}).get(task, {})
            seeds = [run.large[world] for run in runs.finished(task, method) if world in run.large]
            if not seeds or not {"random", "scripted"} <= players.keys():
                continue
            common = set.intersection(*(set(scores.returns) for scores in (*seeds, *players.values())))
            if reference in common:
                for size in sorted(common):
                    yield _carried(method, world, size, reference, seeds, players)


def _carried(
    method: str, world: World, size: int, reference: int, seeds: list[Scores], players: dict[str, Scores]
) -> Carried:
    sizes = (size, reference)
    low, high = (players[name].means(sizes) for name in ("random", "scripted"))
    matrix = normalised(_units(seeds, sizes), low, high)
    hindered = [scores.hindered[size].mean() for scores in seeds if scores.hindered]
    return Carried(
        method=method,
        world=world,
        size=size,
        returned=float(np.mean([scores.means((size,))[0] for scores in seeds])),
        random=float(low[0]),
        scripted=float(high[0]),
        score=estimate(lambda units: units[:, 0].mean(), matrix),
        retention=estimate(lambda units: units[:, 0].mean() / units[:, 1].mean(), matrix),
        hindered=float(np.mean(hindered)) if hindered else np.nan,
    )


def _units(seeds: list[Scores], sizes: tuple[int, int]) -> Float[np.ndarray, "unit size"]:
    """What varies: seeds, each with the means of its rollouts; of a single seed, its rollouts."""
    if len(seeds) > 1:
        return np.array([scores.means(sizes) for scores in seeds])
    returns = [seeds[0].returns[size] for size in sizes]
    count = min(map(len, returns))
    return np.stack([values[:count] for values in returns], axis=1)


def _row(one: Carried, scale: float) -> Row:
    numbers = (f"{scale * value:.2f}" for value in (one.returned, one.random, one.scripted))
    hindered = NOTHING if np.isnan(one.hindered) else f"{one.hindered:.1%}".replace("%", " %")
    about = (method_title(one.method), one.world, str(one.size))
    return *about, *numbers, with_interval(one.score), with_interval(one.retention), hindered


def with_interval(value: Estimate) -> str:
    """A number as a table shows it, with its interval if there is one."""
    beside = "" if value.interval is None else f" [{value.interval[0]:.2f}, {value.interval[1]:.2f}]"
    return f"{value.value:.2f}{beside}"


def _line(axes: Axes, method: str, found: list[Carried]) -> None:
    places, heights = [one.size for one in found], [one.score.value for one in found]
    ends = [one.score.interval or (one.score.value,) * 2 for one in found]
    reaches = np.abs(np.array(ends).T - heights) if found else None
    axes.errorbar(places, heights, reaches, fmt="o-", color=color_of(method), label=method_title(method))
