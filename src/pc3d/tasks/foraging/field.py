"""The field of level-based foraging: how large it is, what lies on it, and how far agents see on it."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from jaxtyping import Bool, Int

SIDE = 10
SIGHT = 2
FOODS_BY_TEAM_SIZE = {2: 2, 3: 2, 4: 3, 5: 3, 6: 3, 7: 4, 8: 4}
MOST_FOODS = max(FOODS_BY_TEAM_SIZE.values())
REFERENCE_TEAM = 6  # the largest one of training: what a scaled field is as dense as


@dataclass(frozen=True)
class Field:
    """A square of cells, with room in a state for so many foods."""

    side: int = SIDE
    foods: int = MOST_FOODS

    @cached_property
    def cells(self) -> Int[np.ndarray, "cell 2"]:
        """Each one's row and column."""
        numbers = np.arange(self.side**2, dtype=np.int32)
        return np.stack(np.divmod(numbers, self.side), axis=-1)

    @cached_property
    def inside(self) -> Bool[np.ndarray, " cell"]:
        """Which of them are off the border."""
        return np.all((self.cells > 0) & (self.cells < self.side - 1), axis=-1)


@lru_cache
def field_of(growth: float) -> Field:
    """The paper's field, or one with so many times the cells and the foods of the reference team."""
    if growth == 1:
        return Field()
    foods = math.ceil(FOODS_BY_TEAM_SIZE[REFERENCE_TEAM] * growth)
    return Field(round(SIDE * math.sqrt(growth)), foods)


def food_counts(field: Field) -> Int[np.ndarray, " size"]:
    """How many foods a team gets, by its size; the last one stands for all larger teams."""
    if field != Field():
        return np.array([field.foods], np.int32)
    return np.array(
        [FOODS_BY_TEAM_SIZE.get(size, 0) for size in range(max(FOODS_BY_TEAM_SIZE) + 1)], np.int32
    )
