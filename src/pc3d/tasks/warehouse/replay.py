"""What the page's viewer is told of an episode of RWARE; replay.js draws it."""

from typing import Any

import numpy as np

from pc3d.tasks.warehouse.floor import NOTHING, Floor
from pc3d.tasks.warehouse.world import Warehouse, WarehouseState


def warehouse_replay(task: Warehouse, states: WarehouseState, size: int) -> dict[str, Any]:
    """Shelves are numbered from 0 here, by their places at the start; -1 is none."""
    floor = task.floor
    return {
        "columns": floor.columns,
        "rows": floor.rows,
        "goals": _places(floor, np.array(floor.goals)),
        "highway": "".join("1" if highway else "0" for highway in floor.highway[floor.inside]),
        "shelves": _places(floor, floor.storage),
        "positions": _places(floor, states.cells[:, :size]),
        "directions": states.directions[:, :size].tolist(),
        "carried": (states.carried[:, :size] - 1).tolist(),
        "moves": _shelves_put_down(floor, np.asarray(states.standing)),
        "requests": (states.requests[:, : int(states.team_size[0])] - 1).tolist(),
    }


def _shelves_put_down(floor: Floor, standing: np.ndarray) -> list[list[int]]:
    """Each time a shelf stands where none stood a moment before: moment, shelf, x, y."""
    appeared = (standing[:-1] == NOTHING) & (standing[1:] != NOTHING)
    return [
        [int(step) + 1, int(standing[step + 1, cell]) - 1, *map(int, floor.column_and_row(cell))]
        for step, cell in np.argwhere(appeared)
    ]


def _places(floor: Floor, cells: Any) -> list[Any]:
    return np.stack(floor.column_and_row(cells), axis=-1).tolist()
