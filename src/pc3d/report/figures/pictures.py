"""The benchmarks as pictures: the start of one episode of every task."""

from contextlib import suppress

import jax

from pc3d.evaluation.film import as_picture
from pc3d.report.figures.style import Figure, drawn
from pc3d.report.names import heading, task_title
from pc3d.report.runs import Runs
from pc3d.system.errors import BadInput
from pc3d.tasks.registry import TASKS

PIXELS = 900
PANEL_HEIGHT = 3.2  # inches
START = 4  # a start in which not everything hides behind something else


def benchmark_pictures(runs: Runs) -> Figure | None:
    """Side by side and equally tall, with what the agents can observe shaded."""
    pictures = {}
    for task in (task for task in runs.tasks if task in TASKS):
        sizes = runs.rosters(task).all
        team_size = sizes[len(sizes) // 2]
        world = TASKS[task].make(team_size)
        state = jax.jit(world.reset, static_argnums=1)(jax.random.key(START), team_size)
        with suppress(BadInput, NotImplementedError):  # a task of somebody's that has no picture
            pictures[task, team_size] = as_picture(world.draw(state, size=PIXELS, show_range=True), task)
    if not pictures:
        return None
    shapes = [picture.shape[1] / picture.shape[0] for picture in pictures.values()]
    size = (PANEL_HEIGHT * sum(shapes) + 0.3 * len(shapes), PANEL_HEIGHT + 0.3)
    with drawn(heading("benchmarks"), size) as figure:
        panels = figure.drawing.subplots(1, len(pictures), width_ratios=shapes, squeeze=False)[0]
        for axes, ((task, team_size), picture) in zip(panels, pictures.items(), strict=True):
            axes.imshow(picture)
            axes.set_axis_off()
            axes.set_title(f"{task_title(task).name}, {team_size} agents", fontsize=9)
    return figure
