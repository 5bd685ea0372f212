"""RWARE's floor: cells, highways, shelves and goals of one small warehouse, or of several side by side."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

ROWS, COLUMNS = 20, 10  # of the small warehouse
SMALL_GOALS = ((4, 19), (5, 19))
NOWHERE = -1  # the cell of a robot that is not there
NOTHING = 0  # the shelf that is not there: shelves are numbered from 1, as in the original

UP, DOWN, LEFT, RIGHT = range(4)
LEFT_OF = np.array([LEFT, RIGHT, DOWN, UP], np.int32)
RIGHT_OF = np.array([RIGHT, LEFT, UP, DOWN], np.int32)

Cells = Int[np.ndarray, " cell"]
IsCell = Bool[np.ndarray, " cell"]


@dataclass(frozen=True)
class Floor:
    """Small warehouses in rows and columns; nothing but highways meet where two of them do.

    Cells are numbered row by row with a wall all round, so that every cell has neighbours.
    """

    down: int = 1
    across: int = 1

    @cached_property
    def layout(self) -> tuple[str, ...]:
        """Row by row, as rware writes it: x a shelf's place, g a goal, and highways else."""
        small = ["".join(_kind(x, y) for x in range(COLUMNS)) for y in range(ROWS)]
        return tuple(row * self.across for row in small) * self.down

    @property
    def rows(self) -> int:
        return ROWS * self.down

    @property
    def columns(self) -> int:
        return COLUMNS * self.across

    @property
    def width(self) -> int:
        return self.columns + 2

    @property
    def size(self) -> int:
        """How many cells are numbered, walls included."""
        return (self.rows + 2) * self.width

    @cached_property
    def ahead(self) -> Int[np.ndarray, " direction"]:
        """What is to be added to a cell to get to the next one."""
        return np.array([-self.width, self.width, -1, 1], np.int32)

    @cached_property
    def around(self) -> Int[np.ndarray, "9"]:
        return self._steps(1)

    @cached_property
    def further(self) -> Int[np.ndarray, "16"]:
        """Around the nine cells around."""
        steps = self._steps(2)
        return steps[~np.isin(steps, self.around)]

    def _steps(self, reach: int) -> Int[np.ndarray, " cell"]:
        ways = range(-reach, reach + 1)
        return np.array([down * self.width + right for down in ways for right in ways], np.int32)

    @cached_property
    def inside(self) -> IsCell:
        return np.pad(np.ones((self.rows, self.columns), bool), 1).ravel()

    @cached_property
    def highway(self) -> IsCell:
        kinds = np.array([list(row) for row in self.layout])
        return np.pad(kinds != "x", 1).ravel()

    @cached_property
    def storage(self) -> Cells:
        """The only cells shelves stand in."""
        return np.flatnonzero(self.inside & ~self.highway)

    @property
    def shelves(self) -> int:
        return self.storage.size

    @cached_property
    def all_stored(self) -> Cells:
        """Which shelf stands in each cell at the start."""
        stored = np.zeros(self.size, np.int32)
        stored[self.storage] = np.arange(1, self.shelves + 1)
        return stored

    @cached_property
    def goals(self) -> tuple[int, ...]:
        """In the order in which they are served."""
        kinds = np.array([list(row) for row in self.layout])
        return tuple(self.cell_at(int(x), int(y)) for y, x in np.argwhere(kinds == "g"))

    def cell_at(self, x: int, y: int) -> int:
        """The number of a cell of the floor, from its column and row."""
        return (y + 1) * self.width + x + 1

    def column_and_row(self, cell: Any) -> tuple[Any, Any]:
        """Where a cell is (or an array of cells are) on the floor: x to the right and y down, from 0."""
        return cell % self.width - 1, cell // self.width - 1


@lru_cache
def floor_of(warehouses: int) -> Floor:
    """So many small warehouses, in the rectangle closest to a square that is not higher than wide."""
    highest = math.isqrt(warehouses * COLUMNS // ROWS)
    down = max((rows for rows in range(1, highest + 1) if warehouses % rows == 0), default=1)
    return Floor(down, warehouses // down)


def _kind(x: int, y: int) -> str:
    if (x, y) in SMALL_GOALS:
        return "g"
    goal_lane = y > 9 and x in (4, 5)
    return "." if x % 3 == 0 or y % 9 == 0 or y == ROWS - 1 or goal_lane else "x"
