"""Draws the warehouse: shelves in their rows, robots with what they carry, and the two goals."""

import numpy as np
from jaxtyping import Int

from pc3d.tasks.canvas import BLUE, GREEN, GRID, INK, MUTED, ORANGE, PAPER, SKY, Canvas, Color, Number, faint
from pc3d.tasks.warehouse.floor import NOTHING, Floor

MARGIN = 0.35
GAP = 0.07  # between a cell's border and the shelf in it
AHEAD_ON_PAGE = ((0, -1), (0, 1), (-1, 0), (1, 0))  # by direction; y points down


Numbers = Int[np.ndarray, " agent"]


def draw_warehouse(
    floor: Floor,
    standing: Int[np.ndarray, " cell"],
    cells: Numbers,
    directions: Numbers,
    carried: Numbers,
    requests: Int[np.ndarray, " request"],
    *,
    size: int,
    show_range: bool,
) -> np.ndarray:
    """The whole floor; `show_range` shades the nine cells that each robot's sensors reach."""
    wanted = set(requests.tolist())
    canvas = Canvas(-MARGIN, -MARGIN, floor.columns + 2 * MARGIN, floor.rows + 2 * MARGIN, size, y_down=True)
    _draw_floor(canvas, floor)
    if show_range:
        for cell in cells.tolist():
            _draw_range(canvas, floor, *floor.column_and_row(cell))
    for cell in np.flatnonzero(standing):
        _draw_shelf(canvas, *floor.column_and_row(cell), requested=int(standing[cell]) in wanted)
    for cell, direction, load in zip(cells.tolist(), directions.tolist(), carried.tolist(), strict=True):
        x, y = floor.column_and_row(cell)
        if load != NOTHING:
            _draw_shelf(canvas, x, y, requested=load in wanted)
        _draw_robot(canvas, x + 0.5, y + 0.5, direction, loaded=load != NOTHING)
    return canvas.pixels()


def _draw_floor(canvas: Canvas, floor: Floor) -> None:
    canvas.rectangle(0, 0, floor.columns, floor.rows, faint(GRID, 0.25), radius=0.15)
    for x in range(1, floor.columns):
        canvas.line(x, 0, x, floor.rows, faint(GRID, 0.6), 0.02)
    for y in range(1, floor.rows):
        canvas.line(0, y, floor.columns, y, faint(GRID, 0.6), 0.02)
    for cell in floor.storage:
        x, y = floor.column_and_row(cell)
        canvas.rectangle(x + GAP, y + GAP, 1 - 2 * GAP, 1 - 2 * GAP, PAPER, GRID, 0.03, radius=0.1)
    for goal in floor.goals:
        x, y = floor.column_and_row(goal)
        canvas.rectangle(x, y, 1, 1, faint(GREEN, 0.25), GREEN, 0.06, radius=0.12)
        canvas.text(x + 0.5, y + 0.5, "G", GREEN, 0.62)
    canvas.rectangle(0, 0, floor.columns, floor.rows, None, MUTED, 0.06, radius=0.15)


def _draw_shelf(canvas: Canvas, x: Number, y: Number, *, requested: bool) -> None:
    """A box with two boards; a requested one shines."""
    body: Color = ORANGE if requested else (203, 208, 216)
    edge: Color = (176, 116, 0) if requested else (168, 174, 184)
    side = 1 - 2 * GAP
    canvas.rectangle(x + GAP, y + GAP, side, side, body, edge, 0.05, radius=0.1)
    for board in (1 / 3, 2 / 3):
        height = y + GAP + side * board
        canvas.line(x + GAP, height, x + 1 - GAP, height, edge, 0.04)


def _draw_range(canvas: Canvas, floor: Floor, x: int, y: int) -> None:
    left, top = max(x - 1, 0), max(y - 1, 0)
    right, bottom = min(x + 2, floor.columns), min(y + 2, floor.rows)
    canvas.rectangle(left, top, right - left, bottom - top, faint(SKY, 0.18), faint(SKY, 0.8), 0.04, 0.12)


def _draw_robot(canvas: Canvas, x: Number, y: Number, direction: int, *, loaded: bool) -> None:
    """A disc with an arrowhead that points ahead; smaller under a shelf, so that both are seen."""
    radius = 0.31 if loaded else 0.38
    canvas.disc(x, y, radius, INK if loaded else BLUE, PAPER, 0.04)
    ahead = np.array(AHEAD_ON_PAGE[direction])
    across = np.array([-ahead[1], ahead[0]])
    middle = np.array([x, y])
    corners = [0.68 * ahead, -0.42 * ahead + 0.55 * across, -0.14 * ahead, -0.42 * ahead - 0.55 * across]
    canvas.polygon([tuple(middle + radius * corner) for corner in corners], PAPER)
