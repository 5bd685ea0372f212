"""Level-based foraging by script: the nearest agents that are strong enough together fetch each food."""

from collections import deque
from functools import lru_cache

import numpy as np
from jaxtyping import Int

from pc3d.tasks.foraging.field import SIDE
from pc3d.tasks.foraging.world import EAST, LOAD, NONE, NORTH, SOUTH, WEST, ForagingState

Cell = tuple[int, int]
MOVES = {NORTH: (-1, 0), SOUTH: (1, 0), WEST: (0, -1), EAST: (0, 1)}
UNREACHABLE = 10**6


def gather(state: ForagingState) -> Int[np.ndarray, " agent"]:
    """Crews form around foods, fill the cells beside them, and load together."""
    agents = [(int(row), int(column)) for row, column in state.positions]
    foods = {
        (int(row), int(column)): int(level)
        for (row, column), level in zip(state.food_positions, state.food_levels, strict=True)
        if level > 0
    }
    posts = _posts(agents, np.asarray(state.levels), foods)
    return _walk(agents, posts, frozenset(foods))


def _posts(agents: list[Cell], levels: Int[np.ndarray, " agent"], foods: dict[Cell, int]) -> dict[int, Cell]:
    """Where each agent should stand: crews are chosen food by food, the quickest to gather first."""
    posts: dict[int, Cell] = {}
    left, walls = dict(foods), frozenset(foods)

    def gathered(crew: dict[int, Cell]) -> int:
        """When the last of a crew is at its post."""
        return max(_steps(walls, post)[agents[agent]] for agent, post in crew.items())

    while left:
        idle = {agent: cell for agent, cell in enumerate(agents) if agent not in posts}
        crews = {food: crew for food in left if (crew := _crew(idle, levels, food, left[food], walls))}
        if not crews:
            break
        food = min(crews, key=lambda food: gathered(crews[food]))
        posts |= crews[food]
        del left[food]
    return posts


def _crew(
    idle: dict[int, Cell], levels: Int[np.ndarray, " agent"], food: Cell, needed: int, walls: frozenset[Cell]
) -> dict[int, Cell] | None:
    """The nearest idle agents whose levels suffice, each with its own cell beside the food."""
    open_posts = [(food[0] + down, food[1] + right) for down, right in MOVES.values()]
    crew: dict[int, Cell] = {}
    strength = 0
    while strength < needed:
        options = [
            (_steps(walls, post)[cell], agent, post)
            for agent, cell in idle.items()
            if agent not in crew
            for post in open_posts
        ]
        if not options:
            return None
        _, agent, post = min(options)
        crew[agent] = post
        open_posts.remove(post)
        strength += int(levels[agent])
    return crew


def _walk(agents: list[Cell], posts: dict[int, Cell], foods: frozenset[Cell]) -> Int[np.ndarray, " agent"]:
    """One step of everybody: around those who stand, and no two into one cell."""
    standing = {agent: cell for agent, cell in enumerate(agents) if posts.get(agent, cell) == cell}
    walls = foods | frozenset(standing.values())
    actions = np.array(
        [LOAD if agent in posts and agent in standing else NONE for agent in range(len(agents))]
    )
    claimed: set[Cell] = set()
    travellers = [agent for agent in posts if agent not in standing]
    for agent in sorted(travellers, key=lambda agent: _steps(walls, posts[agent])[agents[agent]]):
        row, column = agents[agent]
        steps = _steps(walls, posts[agent])
        ways = {NONE: (row, column)}
        ways |= {move: (row + down, column + right) for move, (down, right) in MOVES.items()}
        free = [move for move, cell in ways.items() if cell not in claimed]
        actions[agent] = min(free, key=lambda move: steps[ways[move]], default=NONE)
        claimed.add(ways[int(actions[agent])])
    return actions


@lru_cache(maxsize=4096)
def _steps(foods: frozenset[Cell], target: Cell) -> dict[Cell, int]:
    """How many steps it takes from each cell to the target, around foods; outside is out of reach."""
    steps = {(row, column): UNREACHABLE for row in range(-1, SIDE + 1) for column in range(-1, SIDE + 1)}
    steps[target] = 0
    queue = deque([target])
    while queue:
        row, column = queue.popleft()
        for down, right in MOVES.values():
            cell = (row + down, column + right)
            inside = 0 <= cell[0] < SIDE and 0 <= cell[1] < SIDE
            if inside and cell not in foods and steps[cell] == UNREACHABLE:
                steps[cell] = steps[row, column] + 1
                queue.append(cell)
    return steps
