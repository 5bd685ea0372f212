"""What parity compares for RWARE: crowds, queues, rings and deliveries that random play hardly brings."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from jaxtyping import Array, Bool, Int

from pc3d.tasks.parity.case import Opponent, ParityCase, by_name
from pc3d.tasks.task import AnyTask
from pc3d.tasks.warehouse.floor import (
    COLUMNS,
    DOWN,
    LEFT,
    NOTHING,
    RIGHT,
    ROWS,
    SMALL_GOALS,
    UP,
    Floor,
)
from pc3d.tasks.warehouse.original import OriginalWarehouse
from pc3d.tasks.warehouse.world import Warehouse, WarehouseState

STEPS_LEFT = 20  # scenarios start this close to the end: what is special about them is soon over
REQUESTED_LOADS = 0.7  # how likely the shelf on a robot is a requested one
NEXT_CELL = ((0, -1), (0, 1), (-1, 0), (1, 0))  # by direction: to the right, and down

Pose = tuple[int, int, int]  # the column, row and direction of a robot in its small warehouse
Poses = Callable[[np.random.Generator, int], list[Pose]]  # of so many robots, or of fewer


def crowd(generator: np.random.Generator, task: Warehouse) -> WarehouseState:
    """Everyone in three columns and four rows, or not many more."""
    return _scene(generator, task, _block, loaded=0.5)


def queues(generator: np.random.Generator, task: Warehouse) -> WarehouseState:
    """Lines of three that meet at a crossing of two highways, which is free."""
    return _scene(generator, task, _crossing, loaded=0.3)


def rings(generator: np.random.Generator, task: Warehouse) -> WarehouseState:
    """Circles of six and four, and pairs that want to swap; a ring half loaded would soon be stuck."""
    return _scene(generator, task, _circles, loaded=generator.choice([0, 1]))


def two_lanes(generator: np.random.Generator, task: Warehouse) -> WarehouseState:
    """Shelves on their way down to both goals at once, and on them ready to leave."""
    return _scene(generator, task, _lanes, loaded=1)


def conveyor(generator: np.random.Generator, task: Warehouse) -> WarehouseState:
    """A line of shelves that runs over both goals, from the left or from the right."""
    return _scene(generator, task, _line, loaded=1)


def shelf_against_shelf(generator: np.random.Generator, task: Warehouse) -> WarehouseState:
    """Robots in an aisle or under the shelves beside it, looking at shelves, most of them with one."""
    return _scene(generator, task, _aisle, loaded=0.8)


def tie_free(task: AnyTask, state: WarehouseState, actions: Int[Array, " agent"]) -> Bool[Array, ""]:
    """Whether no choice between equally long queues is made in this step."""
    assert isinstance(task, Warehouse)
    return ~task.traffic(state, actions).tied


def _block(generator: np.random.Generator, robots: int) -> list[Pose]:
    wide = max(3, math.isqrt(robots) + 1)
    high = max(4, robots // wide + 2)
    left, top = int(generator.integers(COLUMNS - wide + 1)), int(generator.integers(ROWS - high + 1))
    block = [(left + x, top + y) for x in range(wide) for y in range(high)]
    chosen = [block[index] for index in generator.permutation(len(block))[:robots]]
    return [(x, y, int(generator.integers(4))) for x, y in chosen]


def _crossing(generator: np.random.Generator, robots: int) -> list[Pose]:
    x, y = int(generator.choice([3, 6])), 9
    ways = [int(way) for way in generator.permutation(4)]
    places = [(way, *NEXT_CELL[way], place) for way in ways for place in (1, 2, 3)]
    return [(x - place * right, y - place * down, way) for way, right, down, place in places[:robots]]


def _circles(generator: np.random.Generator, robots: int) -> list[Pose]:
    poses: list[Pose] = []
    for top in generator.permutation([0, 3, 6, 9, 12, 15]):
        left, missing = int(generator.integers(0, 8)), robots - len(poses)
        length = generator.choice([size for size in (2, 4, 4, 6) if size <= max(missing, 2)])
        poses += _ring(left, int(top), int(length))
    # Which robot is where in a ring must not depend on its index.
    return [poses[index] for index in generator.permutation(min(robots, len(poses)))]


def _ring(left: int, top: int, length: int) -> list[Pose]:
    """Robots on the border of a box two rows high, each looking at the next one: clockwise."""
    half = length // 2
    upper = [(left + x, top, RIGHT if x < half - 1 else DOWN) for x in range(half)]
    lower = [(left + x, top + 1, LEFT) for x in range(1, half)] + [(left, top + 1, UP)]
    return upper + lower


def _lanes(generator: np.random.Generator, robots: int) -> list[Pose]:
    lanes = [(x, y, DOWN) for y in (18, 17, 16, 15) for x in (4, 5)]
    on_goals = [(*place, way) for place, way in zip(SMALL_GOALS, (LEFT, RIGHT), strict=True)]
    start = int(generator.integers(3)) if robots < 9 else 0  # with two, one or none of the goals taken
    return [*on_goals, *lanes][start : start + robots]


def _line(generator: np.random.Generator, robots: int) -> list[Pose]:
    line = [(x, 19, RIGHT) for x in (4, 3, 2, 1, 0)] + [(0, y, DOWN) for y in (18, 17, 16, 15, 14)]
    if generator.random() < 0.5:
        line = [(9 - x, y, LEFT if way == RIGHT else way) for x, y, way in line]
    return line[:robots]


def _aisle(generator: np.random.Generator, robots: int) -> list[Pose]:
    beside = [(x, y, way) for x, way in ((2, RIGHT), (3, LEFT), (4, LEFT)) for y in range(1, 9)]
    return [beside[index] for index in generator.permutation(24)[:robots]]


def _scene(generator: np.random.Generator, task: Warehouse, poses: Poses, loaded: float) -> WarehouseState:
    """A state near the end of an episode with robots in such poses, loaded with that probability."""
    cells, directions = np.array(_placed(generator, task, poses), np.int32).T
    standing = task.floor.all_stored.copy()
    carried = np.zeros(task.slots, np.int32)
    for slot in np.flatnonzero(generator.random(task.slots) < loaded):
        # On a highway it is a shelf from anywhere, else the one that stood there.
        origin = cells[slot] if standing[cells[slot]] else generator.choice(np.flatnonzero(standing))
        carried[slot], standing[origin] = standing[origin], NOTHING
    return WarehouseState(
        team_size=np.int32(task.slots),
        time=np.int32(Warehouse.horizon - STEPS_LEFT),
        cells=cells,
        directions=directions,
        carried=carried,
        standing=standing,
        requests=_requests(generator, task.floor, carried),
        deliveries=np.int32(0),
    )


def _placed(generator: np.random.Generator, task: Warehouse, poses: Poses) -> list[tuple[int, int]]:
    """Cell and direction of each robot: such poses in each small warehouse, the rest anywhere."""
    floor, corners = task.floor, [(x, y) for y in range(task.floor.down) for x in range(task.floor.across)]
    placed: dict[int, int] = {}
    for place, (right, down) in enumerate(corners):
        share = (task.slots - len(placed)) // (len(corners) - place)
        for x, y, way in poses(generator, share):
            placed[floor.cell_at(right * COLUMNS + x, down * ROWS + y)] = way
    free = np.setdiff1d(np.flatnonzero(floor.inside), list(placed))
    for cell in generator.permutation(free)[: task.slots - len(placed)]:
        placed[int(cell)] = int(generator.integers(4))
    return list(placed.items())


def _requests(
    generator: np.random.Generator, floor: Floor, carried: Int[np.ndarray, " agent"]
) -> Int[np.ndarray, " agent"]:
    """As many requests as robots, in any order, with most of the carried shelves among them."""
    loads = carried[carried != NOTHING]
    wanted = generator.random(loads.size) < REQUESTED_LOADS
    others = np.setdiff1d(np.arange(1, floor.shelves + 1, dtype=np.int32), loads)
    chosen = np.concatenate([loads[wanted], generator.permutation(others), loads[~wanted]])
    return generator.permutation(chosen[: carried.size])


CASE = ParityCase(
    task=Warehouse(),
    opponents=(
        Opponent("rware 2.0.0", partial(OriginalWarehouse, index_ties=False), compared=tie_free),
        Opponent("rware 2.0.0 with index ties", partial(OriginalWarehouse, index_ties=True)),
    ),
    scenarios=by_name(crowd, queues, rings, two_lanes, conveyor, shelf_against_shelf),
    action_probabilities=(0.04, 0.80, 0.05, 0.05, 0.06),  # mostly driving forward
)
