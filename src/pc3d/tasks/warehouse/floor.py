"""RWARE's small warehouse as a building: cells, highways, shelves, goals and directions."""

from typing import Any

import numpy as np

ROWS, COLUMNS = 20, 10
WIDTH = COLUMNS + 2  # cells are numbered row by row with a wall all round, so every cell has neighbours
CELLS = (ROWS + 2) * WIDTH
NOWHERE = -1  # the cell of a robot that is not there
NOTHING = 0  # the shelf that is not there: shelves are numbered from 1, as in the original

UP, DOWN, LEFT, RIGHT = range(4)
AHEAD = np.array([-WIDTH, WIDTH, -1, 1], np.int32)
LEFT_OF = np.array([LEFT, RIGHT, DOWN, UP], np.int32)
RIGHT_OF = np.array([RIGHT, LEFT, UP, DOWN], np.int32)
AROUND = np.array([down * WIDTH + right for down in (-1, 0, 1) for right in (-1, 0, 1)], np.int32)


def cell_at(x: int, y: int) -> int:
    """The number of a cell of the floor, from its column and row."""
    return (y + 1) * WIDTH + x + 1


def column_and_row(cell: Any) -> tuple[Any, Any]:
    """Where a cell is (or an array of cells are) on the floor: x to the right and y down, from 0."""
    return cell % WIDTH - 1, cell // WIDTH - 1


def _is_highway(x: int, y: int) -> bool:
    goal_lane = y > 9 and x in (4, 5)
    return x % 3 == 0 or y % 9 == 0 or y == ROWS - 1 or goal_lane


FLOOR = np.pad(np.ones((ROWS, COLUMNS), bool), 1).ravel()
HIGHWAY = np.pad([[_is_highway(x, y) for x in range(COLUMNS)] for y in range(ROWS)], 1).ravel()
STORAGE = np.flatnonzero(FLOOR & ~HIGHWAY)  # the only cells shelves stand in
SHELVES = STORAGE.size
ALL_STORED = np.zeros(CELLS, np.int32)  # which shelf stands in each cell at the start
ALL_STORED[STORAGE] = np.arange(1, SHELVES + 1)
GOALS = (cell_at(4, 19), cell_at(5, 19))
