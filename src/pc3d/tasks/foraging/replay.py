"""What the page's viewer is told of an episode of level-based foraging; replay.js draws it."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from pc3d.tasks.foraging.field import SIGHT
from pc3d.tasks.foraging.world import Foraging, ForagingState


def foraging_replay(task: Foraging, states: ForagingState, size: int) -> dict[str, Any]:
    foods, there = _foods(np.asarray(states.food_positions), np.asarray(states.food_levels))
    return {
        "size": task.field.side,
        "sight": SIGHT,
        "levels": states.levels[0, :size].tolist(),
        "foods": foods,
        "food_left": _left(there),
        "positions": states.positions[:, :size].tolist(),
    }


def _foods(
    positions: Int[np.ndarray, "moment food 2"], levels: Int[np.ndarray, "moment food"]
) -> tuple[list[list[int]], Bool[np.ndarray, "moment ever"]]:
    """Row, column and level of every food there ever was, and when each of them is there."""
    lying = [
        [(*map(int, place), int(level)) for place, level in zip(*moment, strict=True) if level > 0]
        for moment in zip(positions, levels, strict=True)
    ]
    ever = list(dict.fromkeys(food for moment in lying for food in moment))
    there = np.array([[food in moment for food in ever] for moment in lying], bool)
    return [list(food) for food in ever], there.reshape(len(lying), len(ever))


def _left(there: Bool[np.ndarray, "moment food"]) -> list[Any]:
    """For each moment the bits of a number, or letters where there are too many for JavaScript's."""
    if there.shape[1] > 30:
        return ["".join("01"[int(one)] for one in moment) for moment in there]
    left: list[Any] = (there @ (1 << np.arange(there.shape[1]))).tolist()
    return left
