"""What the page's viewer is told of an episode of level-based foraging; replay.js draws it."""

from typing import Any

import numpy as np
from jaxtyping import Bool

from pc3d.tasks.foraging.field import SIGHT
from pc3d.tasks.foraging.world import Foraging, ForagingState


def foraging_replay(task: Foraging, states: ForagingState, size: int) -> dict[str, Any]:
    foods = np.flatnonzero(states.food_levels[0])
    return {
        "size": task.field.side,
        "sight": SIGHT,
        "levels": states.levels[0, :size].tolist(),
        "foods": np.column_stack([states.food_positions[0], states.food_levels[0]])[foods].tolist(),
        "food_left": _left(np.asarray(states.food_levels)[:, foods] > 0),
        "positions": states.positions[:, :size].tolist(),
    }


def _left(there: Bool[np.ndarray, "moment food"]) -> list[Any]:
    """For each moment the bits of a number, or letters where there are too many for JavaScript's."""
    if there.shape[1] > 30:
        return ["".join("01"[int(one)] for one in moment) for moment in there]
    left: list[Any] = (there @ (1 << np.arange(there.shape[1]))).tolist()
    return left
