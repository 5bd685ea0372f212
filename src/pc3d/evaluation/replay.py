"""An episode as a small JSON document that a page can play: positions in integers, one entry per moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pc3d.errors import unknown_name
from pc3d.evaluation.recording import Recording
from pc3d.policy import Policy
from pc3d.tasks.foraging import SIDE, SIGHT, ForagingState
from pc3d.tasks.spread import SpreadState
from pc3d.tasks.warehouse import WarehouseState
from pc3d.tasks.warehouse_floor import (
    COLUMNS,
    FLOOR,
    GOALS,
    HIGHWAY,
    NOTHING,
    ROWS,
    STORAGE,
    column_and_row,
)

FORMAT = 1


def replay(policy: Policy, episode: Recording, rollout: int) -> dict[str, Any]:
    """The document of one episode (a recording without an episode axis)."""
    experiment, size = policy.experiment, episode.team_size
    if experiment.task not in WORLDS:
        raise unknown_name("replay for a task", experiment.task, WORLDS)
    use = episode.context
    return {
        "format": FORMAT,
        "task": experiment.task,
        "method": experiment.method,
        "seed": experiment.seed,
        "team_size": size,
        "split": experiment.rosters.split_of(size),
        "rollout": rollout,
        "return": float(episode.returns),
        "reward": [round(float(reward), 3) for reward in episode.rewards],
        "gate": None if use is None else _scaled(use.gate, 100),
        "alignment": None if use is None else _scaled(use.alignment, 100),
        "world": WORLDS[experiment.task](episode.states, size),
    }


def _spread_world(states: SpreadState, size: int) -> dict[str, Any]:
    return {
        "landmarks": _scaled(states.landmarks[0, :size], 1000),
        "positions": _scaled(states.positions[:, :size], 1000),
    }


def _foraging_world(states: ForagingState, size: int) -> dict[str, Any]:
    foods = np.flatnonzero(states.food_levels[0])
    left = (states.food_levels[:, foods] > 0) @ (1 << np.arange(len(foods)))
    return {
        "size": SIDE,
        "sight": SIGHT,
        "levels": states.levels[0, :size].tolist(),
        "foods": np.column_stack([states.food_positions[0], states.food_levels[0]])[foods].tolist(),
        "food_left": left.tolist(),
        "positions": states.positions[:, :size].tolist(),
    }


def _warehouse_world(states: WarehouseState, size: int) -> dict[str, Any]:
    """Shelves are numbered from 0 here, by their places at the start; -1 is none."""
    return {
        "columns": COLUMNS,
        "rows": ROWS,
        "goals": _places(np.array(GOALS)),
        "highway": "".join("1" if highway else "0" for highway in HIGHWAY[FLOOR]),
        "shelves": _places(STORAGE),
        "positions": _places(states.cells[:, :size]),
        "directions": states.directions[:, :size].tolist(),
        "carried": (states.carried[:, :size] - 1).tolist(),
        "moves": _shelves_put_down(np.asarray(states.standing)),
        "requests": (states.requests[:, :size] - 1).tolist(),
    }


def _shelves_put_down(standing: np.ndarray) -> list[list[int]]:
    """Each time a shelf stands where none stood a moment before: moment, shelf, x, y."""
    appeared = (standing[:-1] == NOTHING) & (standing[1:] != NOTHING)
    return [
        [int(step) + 1, int(standing[step + 1, cell]) - 1, *map(int, column_and_row(cell))]
        for step, cell in np.argwhere(appeared)
    ]


def _places(cells: Any) -> list[Any]:
    return np.stack(column_and_row(cells), axis=-1).tolist()


def _scaled(values: Any, scale: int) -> list[Any]:
    return np.rint(np.asarray(values, float) * scale).astype(int).tolist()


WORLDS: dict[str, Callable[[Any, int], dict[str, Any]]] = {
    "spread": _spread_world,
    "lbf": _foraging_world,
    "rware": _warehouse_world,
}
