"""Level-based foraging by script: the nearest agents that are strong enough together fetch each food."""

from collections import deque
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from jaxtyping import Int

from pc3d.tasks.foraging.field import SIDE
from pc3d.tasks.foraging.world import EAST, LOAD, NONE, NORTH, SOUTH, WEST, Foraging, ForagingState

Cell = tuple[int, int]
Crew = dict[int, Cell]  # agents and where each of them should stand
MOVES = {NORTH: (-1, 0), SOUTH: (1, 0), WEST: (0, -1), EAST: (0, 1)}
UNREACHABLE = 10**6


def gather(task: Foraging, state: ForagingState) -> Int[np.ndarray, " agent"]:
    """Crews form around foods, fill the cells beside them, and load together."""
    positions, levels = task.of_team(state, state.positions, state.levels)
    agents = [(int(row), int(column)) for row, column in positions]
    foods = {
        (int(row), int(column)): int(level)
        for (row, column), level in zip(state.food_positions, state.food_levels, strict=True)
        if level > 0
    }
    posts = _posts(task.field.side, agents, levels, foods)
    return _walk(task.field.side, agents, posts, frozenset(foods))


def _posts(side: int, agents: list[Cell], levels: Int[np.ndarray, " agent"], foods: dict[Cell, int]) -> Crew:
    """Where each agent should stand: crews are chosen food by food, the quickest to gather first."""
    posts: Crew = {}
    left, walls = dict(foods), frozenset(foods)
    idle = dict(enumerate(agents))
    crews = {food: _crew(side, idle, levels, food, left[food], walls) for food in left}
    while ready := {food: crew for food, crew in crews.items() if crew}:
        food = min(ready, key=lambda food: max(walk for walk, _ in ready[food].values()))
        chosen = {agent: post for agent, (_, post) in crews.pop(food).items()}
        posts |= chosen
        idle = {agent: cell for agent, cell in idle.items() if agent not in chosen}
        # Only a crew that has lost somebody is another one now.
        for other in [other for other, crew in crews.items() if chosen.keys() & crew.keys()]:
            crews[other] = _crew(side, idle, levels, other, left[other], walls)
    return posts


def _crew(
    side: int,
    idle: dict[int, Cell],
    levels: Int[np.ndarray, " agent"],
    food: Cell,
    needed: int,
    walls: frozenset[Cell],
) -> dict[int, tuple[int, Cell]]:
    """The nearest idle agents whose levels suffice, each with its way and its cell; empty if none do."""
    posts = [(food[0] + down, food[1] + right) for down, right in MOVES.values()]
    options = sorted(
        (_distance(side, walls, cell, post), agent, post) for agent, cell in idle.items() for post in posts
    )
    crew: dict[int, tuple[int, Cell]] = {}
    taken: set[Cell] = set()
    strength = 0
    for walk, agent, post in options:
        if strength >= needed:
            break
        if agent not in crew and post not in taken:
            crew[agent] = walk, post
            taken.add(post)
            strength += int(levels[agent])
    return crew if strength >= needed else {}


def _distance(side: int, walls: frozenset[Cell], cell: Cell, post: Cell) -> int:
    """How far it is; in a field larger than the paper's as if foods were not in the way: it is soon known."""
    if side > SIDE:
        return abs(cell[0] - post[0]) + abs(cell[1] - post[1])
    return _steps(side, walls, post)[cell]


def _walk(side: int, agents: list[Cell], posts: Crew, foods: frozenset[Cell]) -> Int[np.ndarray, " agent"]:
    """One step of everybody: around those who stand, and no two into one cell."""
    standing = {agent: cell for agent, cell in enumerate(agents) if posts.get(agent, cell) == cell}
    walls = foods | frozenset(standing.values())
    actions = np.array(
        [LOAD if agent in posts and agent in standing else NONE for agent in range(len(agents))]
    )
    claimed: set[Cell] = set()
    ways = {
        agent: _near(side, walls, posts[agent], agents[agent]) for agent in posts if agent not in standing
    }
    for agent, steps in sorted(ways.items(), key=lambda way: way[1].get(agents[way[0]], UNREACHABLE)):
        row, column = agents[agent]
        cells = {NONE: (row, column)}
        cells |= {move: (row + down, column + right) for move, (down, right) in MOVES.items()}
        free = [move for move, cell in cells.items() if cell not in claimed]
        actions[agent] = min(free, key=lambda move: steps.get(cells[move], UNREACHABLE), default=NONE)
        claimed.add(cells[int(actions[agent])])
    return actions


@lru_cache(maxsize=4096)
def _steps(side: int, walls: frozenset[Cell], target: Cell) -> dict[Cell, int]:
    """How many steps it takes from each cell to the target, around walls."""
    everywhere = {(row, column): UNREACHABLE for row in range(side) for column in range(side)}
    return everywhere | dict(_outwards(side, walls, target))


def _near(side: int, walls: frozenset[Cell], target: Cell, cell: Cell) -> dict[Cell, int]:
    """As many of these steps as are needed to know which neighbour of the cell is the nearest."""
    steps: dict[Cell, int] = {}
    for reached, count in _outwards(side, walls, target):
        if count > steps.get(cell, UNREACHABLE) + 1:
            break
        steps[reached] = count
    return steps


def _outwards(side: int, walls: frozenset[Cell], target: Cell) -> Iterator[tuple[Cell, int]]:
    """Cells with their steps to the target, the nearest first."""
    seen, queue = {target}, deque([(target, 0)])
    while queue:
        (row, column), steps = queue.popleft()
        yield (row, column), steps
        for down, right in MOVES.values():
            cell = (row + down, column + right)
            inside = 0 <= cell[0] < side and 0 <= cell[1] < side
            if inside and cell not in walls and cell not in seen:
                seen.add(cell)
                queue.append((cell, steps + 1))
