"""What the page's viewer is told of an episode of level-based foraging; replay.js draws it."""

from typing import Any

import numpy as np

from pc3d.tasks.foraging.field import SIDE, SIGHT
from pc3d.tasks.foraging.world import ForagingState


def foraging_replay(states: ForagingState, size: int) -> dict[str, Any]:
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
