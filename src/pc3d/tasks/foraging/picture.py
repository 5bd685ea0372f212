"""Draws level-based foraging: the field with its foods and agents, each with its level."""

import numpy as np
from jaxtyping import Int

from pc3d.tasks.canvas import BLUE, GREEN, GRID, INK, PAPER, SKY, VERMILION, Canvas, Number, faint
from pc3d.tasks.foraging.field import SIGHT

MARGIN = 0.35
AGENT_RADIUS = {1: 0.33, 2: 0.41}  # by level
STRONG_RADIUS = 0.45  # of higher ones
FOOD_RADIUS = 0.31
BESIDE = 0.2  # how far agents in one cell are drawn from its middle, so that each one shows


def draw_foraging(
    side: int,
    positions: Int[np.ndarray, "agent 2"],
    levels: Int[np.ndarray, " agent"],
    food_positions: Int[np.ndarray, "food 2"],
    food_levels: Int[np.ndarray, " food"],
    *,
    size: int,
    show_range: bool,
) -> np.ndarray:
    """The whole field; `show_range` shades the cells from which each agent sees food."""
    canvas = Canvas(-MARGIN, -MARGIN, side + 2 * MARGIN, side + 2 * MARGIN, size, y_down=True)
    _draw_field(canvas, side)
    if show_range:
        _draw_sight(canvas, side, positions)
    for (row, column), level in zip(food_positions, food_levels, strict=True):
        if level > 0:
            _draw_food(canvas, column + 0.5, row + 0.5, int(level))
    _draw_agents(canvas, positions, levels)
    return canvas.pixels()


def _draw_field(canvas: Canvas, side: int) -> None:
    canvas.rectangle(0, 0, side, side, faint(GRID, 0.2), radius=0.15)
    for tick in range(1, side):
        canvas.line(tick, 0, tick, side, GRID, 0.02)
        canvas.line(0, tick, side, tick, GRID, 0.02)
    canvas.rectangle(0, 0, side, side, None, GRID, 0.05, radius=0.15)


def _draw_sight(canvas: Canvas, side: int, positions: Int[np.ndarray, "agent 2"]) -> None:
    """Overlapping windows add up, so that a dark cell is one that many see."""
    for row, column in positions:
        top, left = max(row - SIGHT, 0), max(column - SIGHT, 0)
        bottom, right = min(row + SIGHT + 1, side), min(column + SIGHT + 1, side)
        canvas.rectangle(left, top, right - left, bottom - top, faint(SKY, 0.16), faint(SKY, 0.7), 0.03, 0.12)


def _draw_food(canvas: Canvas, x: Number, y: Number, level: int) -> None:
    """An apple: two lobes, a stalk and a leaf, with the level on it."""
    for side in (-1, 1):
        canvas.disc(x + side * 0.1, y + 0.06, FOOD_RADIUS, VERMILION)
    canvas.line(x, y - 0.18, x + 0.06, y - 0.4, INK, 0.05)
    leaf = [(x + 0.05, y - 0.27), (x + 0.16, y - 0.41), (x + 0.33, y - 0.4), (x + 0.22, y - 0.27)]
    canvas.polygon(leaf, GREEN)
    canvas.text(x, y + 0.06, str(level), PAPER, 0.42)


def _draw_agents(
    canvas: Canvas, positions: Int[np.ndarray, "agent 2"], levels: Int[np.ndarray, " agent"]
) -> None:
    """Discs with the level on them, larger for stronger ones; agents in one cell stand around its middle."""
    for cell in np.unique(positions, axis=0):
        sharing = np.flatnonzero(np.all(positions == cell, axis=-1))
        crowded = len(sharing) > 1
        angles = 2 * np.pi * np.arange(len(sharing)) / len(sharing)
        for level, angle in zip(levels[sharing], angles, strict=True):
            x = cell[1] + 0.5 + crowded * BESIDE * np.cos(angle)
            y = cell[0] + 0.5 + crowded * BESIDE * np.sin(angle)
            shrink = 0.65 if crowded else 1
            canvas.disc(x, y, shrink * AGENT_RADIUS.get(int(level), STRONG_RADIUS), BLUE, PAPER, 0.04)
            canvas.text(x, y, str(level), PAPER, shrink * 0.42)
