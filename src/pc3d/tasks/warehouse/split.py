"""Which numbers of a robot's view tell of other robots: those of a robot and its direction in each cell."""

from pc3d.tasks.split import Split
from pc3d.tasks.warehouse.unlike import FURTHER_CELLS, NEIGHBOURS

OF_ITSELF = 8  # numbers before those of cells: place, load, direction, highway
OF_CELL, OF_ROBOT = 7, 5  # numbers; a cell's end with its shelf
UP_OF_NOBODY = 1  # which of them is 1 where no robot is, as if one looked up


def robots_in_cells(*, further: bool) -> Split:
    """The eight cells around, without the agent's own in their middle, and maybe those around them."""
    around = [cell for cell in range(NEIGHBOURS + 1) if cell != NEIGHBOURS // 2]
    last = NEIGHBOURS + 1 + (FURTHER_CELLS if further else 0)
    starts = [OF_ITSELF + OF_CELL * cell for cell in (*around, *range(NEIGHBOURS + 1, last))]
    return Split(
        OF_ITSELF + OF_CELL * last,
        tuple(tuple(range(start, start + OF_ROBOT)) for start in starts),
        nobody=tuple((start + UP_OF_NOBODY, 1.0) for start in starts),
    )
