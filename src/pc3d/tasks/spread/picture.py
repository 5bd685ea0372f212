"""Draws Simple Spread: who stands where, which landmarks are covered, and who touches whom."""

import math

import numpy as np
from jaxtyping import Bool, Float

from pc3d.tasks.canvas import BLUE, GREEN, GRID, INK, MUTED, ORANGE, PAPER, VERMILION, Canvas, faint
from pc3d.tasks.spread.rules import NEIGHBOURS, RADIUS

LANDMARK_RADIUS = 0.05
MARGIN = 0.2

Points = Float[np.ndarray, "agent 2"]
Landmarks = Float[np.ndarray, "landmark 2"]


def reach_of(half_side: float, positions: Points) -> float:
    """How far from the middle a picture must show: the arena, where landmarks stay, or whoever left it."""
    return max(half_side, float(np.abs(positions).max())) + MARGIN


def draw_spread(
    half_side: float,
    positions: Points,
    velocities: Points,
    landmarks: Landmarks,
    *,
    sizes: Float[np.ndarray, " agent"] | None = None,
    reach: float,
    size: int,
    show_range: bool,
) -> np.ndarray:
    """What is at most `reach` away from the middle; `show_range` links each agent to what it sees."""
    radii = np.full(len(positions), RADIUS) if sizes is None else sizes
    canvas = Canvas(-reach, -reach, 2 * reach, 2 * reach, size)
    _draw_arena(canvas, half_side)
    if show_range:
        _draw_sight(canvas, positions, landmarks)
    between = np.linalg.norm(positions[:, None] - positions[None], axis=-1)
    touching = (between < radii[:, None] + radii) & ~np.eye(len(positions), dtype=bool)
    _draw_agents(canvas, positions, velocities, radii, touching)
    to_landmarks = np.linalg.norm(positions[:, None] - landmarks[None], axis=-1)
    # A landmark under an agent's disc counts as covered in the picture.
    _draw_landmarks(canvas, landmarks, np.any(to_landmarks < radii[:, None], axis=0))
    return canvas.pixels()


def _draw_arena(canvas: Canvas, half_side: float) -> None:
    """The square where everything starts, with lines that are half a unit apart."""
    side = 2 * half_side
    canvas.rectangle(-half_side, -half_side, side, side, faint(GRID, 0.25), GRID, 0.012, radius=0.05)
    furthest = math.ceil(2 * half_side) - 1
    for tick in np.arange(-furthest, furthest + 1) / 2:
        canvas.line(tick, -half_side, tick, half_side, faint(GRID, 0.8), 0.006)
        canvas.line(-half_side, tick, half_side, tick, faint(GRID, 0.8), 0.006)


def _draw_sight(canvas: Canvas, positions: Points, landmarks: Landmarks) -> None:
    """A line from each agent to each of the landmarks and teammates in its observation."""
    for agent, (own_x, own_y) in enumerate(positions):
        teammates = np.delete(positions, agent, axis=0)
        for targets, color in ((landmarks, ORANGE), (teammates, BLUE)):
            nearest = np.argsort(np.linalg.norm(targets - positions[agent], axis=-1))[:NEIGHBOURS]
            for x, y in targets[nearest]:
                canvas.line(own_x, own_y, x, y, faint(color, 0.55), 0.008)


def _draw_agents(
    canvas: Canvas,
    positions: Points,
    velocities: Points,
    radii: Float[np.ndarray, " agent"],
    touching: Bool[np.ndarray, "agent agent"],
) -> None:
    """Discs at their true size, so that contact is overlap; a nose shows where each one is heading."""
    for agent, (x, y) in enumerate(positions):
        color = VERMILION if touching[agent].any() else BLUE
        canvas.disc(x, y, radii[agent], faint(color, 0.45), color, 0.014)
        ahead = velocities[agent] * radii[agent] / max(1.0, float(np.linalg.norm(velocities[agent])))
        canvas.line(x, y, x + ahead[0], y + ahead[1], color, 0.022)
        canvas.disc(x, y, 0.018, color)
    for one, other in zip(*np.nonzero(np.triu(touching)), strict=True):
        x, y = (positions[one] + positions[other]) / 2
        canvas.disc(x, y, 0.03, PAPER, VERMILION, 0.014)


def _draw_landmarks(canvas: Canvas, landmarks: Landmarks, covered: Bool[np.ndarray, " landmark"]) -> None:
    """Filled with a ring when covered, hollow when not."""
    for (x, y), is_covered in zip(landmarks, covered, strict=True):
        if is_covered:
            canvas.disc(x, y, 1.6 * LANDMARK_RADIUS, None, GREEN, 0.014)
            canvas.disc(x, y, LANDMARK_RADIUS, GREEN, PAPER, 0.01)
        else:
            canvas.disc(x, y, LANDMARK_RADIUS, PAPER, INK, 0.014)
            canvas.disc(x, y, 0.4 * LANDMARK_RADIUS, MUTED)
