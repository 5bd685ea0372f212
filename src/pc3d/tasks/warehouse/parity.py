"""What parity compares for RWARE: crowds, queues, rings and deliveries that random play hardly brings."""

from functools import partial

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from pc3d.tasks.parity.case import Opponent, ParityCase, by_name
from pc3d.tasks.task import AnyTask, Outcome
from pc3d.tasks.warehouse.floor import (
    AHEAD,
    ALL_STORED,
    DOWN,
    GOALS,
    LEFT,
    NOTHING,
    RIGHT,
    SHELVES,
    UP,
    cell_at,
)
from pc3d.tasks.warehouse.original import OriginalWarehouse
from pc3d.tasks.warehouse.world import Warehouse, WarehouseState

STEPS_LEFT = 20  # scenarios start this close to the end: what is special about them is soon over
REQUESTED_LOADS = 0.7  # how likely the shelf on a robot is a requested one

Pose = tuple[int, int]  # the cell and the direction of a robot


def crowd(generator: np.random.Generator, team_size: int) -> WarehouseState:
    """Everyone in three columns and four rows."""
    left, top = int(generator.integers(0, 8)), int(generator.integers(0, 17))
    block = [cell_at(left + x, top + y) for x in range(3) for y in range(4)]
    cells = generator.permutation(block)[:team_size]
    return _scene(generator, [(cell, int(generator.integers(4))) for cell in cells], loaded=0.5)


def queues(generator: np.random.Generator, team_size: int) -> WarehouseState:
    """Lines of three that meet at a crossing of two highways, which is free."""
    crossing = cell_at(generator.choice([3, 6]), 9)
    ways = generator.permutation(4)
    poses = [(crossing - place * AHEAD[way], way) for way in ways for place in (1, 2, 3)]
    return _scene(generator, poses[:team_size], loaded=0.3)


def rings(generator: np.random.Generator, team_size: int) -> WarehouseState:
    """Circles of six and four, and pairs that want to swap."""
    poses: list[Pose] = []
    for top in generator.permutation([0, 3, 6, 9, 12, 15]):
        left, missing = int(generator.integers(0, 8)), team_size - len(poses)
        length = generator.choice([size for size in (2, 4, 4, 6) if size <= max(missing, 2)])
        poses += _ring(left, top, length)
    # Which robot is where in a ring must not depend on its index; a ring half loaded is soon stuck.
    poses = [poses[index] for index in generator.permutation(team_size)]
    return _scene(generator, poses, loaded=generator.choice([0, 1]))


def two_lanes(generator: np.random.Generator, team_size: int) -> WarehouseState:
    """Shelves on their way down to both goals at once, and on them ready to leave."""
    lanes = [(cell_at(x, y), DOWN) for y in (18, 17, 16, 15) for x in (4, 5)]
    on_goals = [(GOALS[0], LEFT), (GOALS[1], RIGHT)]
    start = int(generator.integers(3)) if team_size < 9 else 0  # with two, one or none of the goals taken
    return _scene(generator, [*on_goals, *lanes][start : start + team_size], loaded=1)


def conveyor(generator: np.random.Generator, team_size: int) -> WarehouseState:
    """A line of shelves that runs over both goals, from the left or from the right."""
    line = [(x, 19, RIGHT) for x in (4, 3, 2, 1, 0)] + [(0, y, DOWN) for y in (18, 17, 16, 15, 14)]
    if generator.random() < 0.5:
        line = [(9 - x, y, LEFT if way == RIGHT else way) for x, y, way in line]
    return _scene(generator, [(cell_at(x, y), way) for x, y, way in line[:team_size]], loaded=1)


def shelf_against_shelf(generator: np.random.Generator, team_size: int) -> WarehouseState:
    """Robots in an aisle or under the shelves beside it, looking at shelves, most of them with one."""
    beside = [(cell_at(x, y), way) for x, way in ((2, RIGHT), (3, LEFT), (4, LEFT)) for y in range(1, 9)]
    return _scene(generator, [beside[index] for index in generator.permutation(24)[:team_size]], loaded=0.8)


def replay(
    task: AnyTask, state: WarehouseState, actions: Int[Array, " agent"], following: WarehouseState
) -> tuple[WarehouseState, Outcome]:
    """The port's step, in which the shelves are requested that the original requested."""
    assert isinstance(task, Warehouse)
    delivered = following.deliveries - state.deliveries
    changed = jnp.sum((following.requests != state.requests) & task.present(state))
    # Two deliveries that changed one request or none: the first goal's new request stood on the second goal.
    relayed = (delivered == 2) & (changed < 2)
    on_second_goal = jnp.sum(jnp.where(following.cells == GOALS[1], following.carried, NOTHING))

    def next_request(goal: int, requests: Int[Array, " agent"]) -> Int[Array, " agent"]:
        del requests
        return jnp.where(relayed & (goal == 0), on_second_goal, following.requests)

    return task.play(state, actions, next_request)


def tie_free(task: AnyTask, state: WarehouseState, actions: Int[Array, " agent"]) -> Bool[Array, ""]:
    """Whether no choice between equally long queues is made in this step."""
    assert isinstance(task, Warehouse)
    return ~task.traffic(state, actions).tied


def _ring(left: int, top: int, length: int) -> list[Pose]:
    """Robots on the border of a box two rows high, each looking at the next one: clockwise."""
    half = length // 2
    upper = [(cell_at(left + x, top), RIGHT if x < half - 1 else DOWN) for x in range(half)]
    lower = [(cell_at(left + x, top + 1), LEFT) for x in range(1, half)] + [(cell_at(left, top + 1), UP)]
    return upper + lower


def _scene(generator: np.random.Generator, poses: list[Pose], loaded: float) -> WarehouseState:
    """A state near the end of an episode with robots in these poses, loaded with that probability."""
    cells, directions = np.array(poses, np.int32).T
    standing = ALL_STORED.copy()
    carried = np.zeros(len(poses), np.int32)
    for slot in np.flatnonzero(generator.random(len(poses)) < loaded):
        # On a highway it is a shelf from anywhere, else the one that stood there.
        origin = cells[slot] if standing[cells[slot]] else generator.choice(np.flatnonzero(standing))
        carried[slot], standing[origin] = standing[origin], NOTHING
    return WarehouseState(
        team_size=np.int32(len(poses)),
        time=np.int32(Warehouse.horizon - STEPS_LEFT),
        cells=cells,
        directions=directions,
        carried=carried,
        standing=standing,
        requests=_requests(generator, carried),
        deliveries=np.int32(0),
    )


def _requests(
    generator: np.random.Generator, carried: Int[np.ndarray, " agent"]
) -> Int[np.ndarray, " agent"]:
    """As many requests as robots, in any order, with most of the carried shelves among them."""
    wanted = carried[(carried != NOTHING) & (generator.random(carried.size) < REQUESTED_LOADS)]
    others = np.setdiff1d(np.arange(1, SHELVES + 1, dtype=np.int32), carried)
    return generator.permutation(np.append(wanted, generator.permutation(others))[: carried.size])


CASE = ParityCase(
    task=Warehouse(),
    opponents=(
        Opponent("rware 2.0.0", OriginalWarehouse, compared=tie_free),
        Opponent("rware 2.0.0 with index ties", partial(OriginalWarehouse, index_ties=True)),
    ),
    scenarios=by_name(crowd, queues, rings, two_lanes, conveyor, shelf_against_shelf),
    replay=replay,
    action_probabilities=(0.04, 0.80, 0.05, 0.05, 0.06),  # mostly driving forward
)
