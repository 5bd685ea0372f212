"""What the page's viewer is told of an episode of RWARE; replay.js draws it."""

from typing import Any

import numpy as np

from pc3d.tasks.warehouse.floor import COLUMNS, FLOOR, GOALS, HIGHWAY, NOTHING, ROWS, STORAGE, column_and_row
from pc3d.tasks.warehouse.world import WarehouseState


def warehouse_replay(states: WarehouseState, size: int) -> dict[str, Any]:
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
