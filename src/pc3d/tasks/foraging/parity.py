"""What parity compares for level-based foraging: crowds and endings that random play hardly brings."""

from dataclasses import replace

import numpy as np
from jaxtyping import Int

from pc3d.tasks.foraging.original import OriginalForaging
from pc3d.tasks.foraging.placing import HIGHEST_LEVEL, with_levels
from pc3d.tasks.foraging.world import Foraging, ForagingState
from pc3d.tasks.parity.case import Opponent, ParityCase, by_name, capabilities_by_chance

Cells = Int[np.ndarray, "cell 2"]
Foods = Int[np.ndarray, "food 2"]


def around_foods(generator: np.random.Generator, task: Foraging) -> ForagingState:
    """A crowd within two steps of the foods: many loads, blocked moves and shared targets."""
    foods = _draw_foods(generator, task)
    near = task.field.cells[_steps_between(task.field.cells, foods).min(axis=-1) <= 2]
    return _state(generator, task, foods, near)


def overlapping(generator: np.random.Generator, task: Foraging) -> ForagingState:
    """Everybody in one of a few neighbouring cells, as only chains of blocked moves bring about."""
    foods = _draw_foods(generator, task)
    cells = task.field.cells
    center = cells[generator.integers(len(cells))]
    near = cells[_steps_between(cells, center[None])[:, 0] <= 1]
    return _state(generator, task, foods, near)


def at_the_border(generator: np.random.Generator, task: Foraging) -> ForagingState:
    """Agents in the outer two rings and in corners, where the sight window is cut off."""
    foods = _draw_foods(generator, task)
    cells, side = task.field.cells, task.field.side
    outer = cells[np.any((cells < 2) | (cells >= side - 2), axis=-1)]
    corners = cells[np.all((cells == 0) | (cells == side - 1), axis=-1)]
    return _state(generator, task, foods, np.concatenate([outer, corners, corners]))


def one_food_left(generator: np.random.Generator, task: Foraging) -> ForagingState:
    """Everybody beside the only food that is left: the next joint load ends the game."""
    foods = _draw_foods(generator, task)
    beside = task.field.cells[_steps_between(task.field.cells, foods[:1])[:, 0] == 1]
    state = _state(generator, task, foods, beside)
    return replace(state, food_levels=np.where(np.arange(task.field.foods) == 0, state.food_levels, 0))


def few_steps_left(generator: np.random.Generator, task: Foraging) -> ForagingState:
    """As `one_food_left`, just before the time limit: which of the two ends the game is open to the last."""
    time = generator.integers(Foraging.horizon - 4, Foraging.horizon).astype(np.int32)
    return replace(one_food_left(generator, task), time=time)


def _state(generator: np.random.Generator, task: Foraging, foods: Foods, cells: Cells) -> ForagingState:
    """All these foods, and agents at random among those cells that hold none; several may share one."""
    free = cells[_steps_between(cells, foods).min(axis=-1) > 0]
    levels = generator.integers(1, HIGHEST_LEVEL + 1, task.slots).astype(np.int32)
    able = capabilities_by_chance(generator, task)
    if able is not None:
        able, levels = map(np.asarray, with_levels(able, levels))
    food_level = np.sort(levels)[:3].sum()
    absent = task.field.foods - len(foods)
    return ForagingState(
        team_size=np.int32(task.slots),
        time=np.int32(0),
        positions=generator.choice(free, task.slots),
        levels=levels,
        capabilities=able,
        food_positions=np.pad(foods, ((0, absent), (0, 0))),
        food_levels=np.pad(np.full(len(foods), food_level, np.int32), (0, absent)),
        spawned_level=np.int32(food_level * len(foods)),
    )


def _draw_foods(generator: np.random.Generator, task: Foraging) -> Foods:
    """Cells off the border and more than two steps apart, as the original draws them."""
    foods = np.zeros((0, 2), np.int32)
    while len(foods) < task.food_count:
        cell = generator.integers(1, task.field.side - 1, (1, 2), np.int32)
        if np.all(_steps_between(cell, foods) > 2):
            foods = np.concatenate([foods, cell])
    return foods


def _steps_between(cells: Cells, foods: Foods) -> Int[np.ndarray, "cell food"]:
    return np.abs(cells[:, None] - foods).sum(axis=-1)


CASE = ParityCase(
    task=Foraging(),
    opponents=(Opponent("lbforaging 2.0.0", OriginalForaging),),
    scenarios=by_name(around_foods, overlapping, at_the_border, one_food_left, few_steps_left),
    action_probabilities=(0.04, 0.1, 0.1, 0.1, 0.1, 0.56),  # mostly loading
)
