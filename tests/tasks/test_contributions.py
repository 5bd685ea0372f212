"""What one agent brings to the team in a step, in each task; the absent bring nothing."""

from dataclasses import replace

import jax
import jax.numpy as jnp

from pc3d.tasks.foraging.world import LOAD, Foraging
from pc3d.tasks.spread.world import Spread
from pc3d.tasks.warehouse.floor import DOWN
from pc3d.tasks.warehouse.world import FORWARD, STAY, Warehouse
from tests.play.coming_and_going import ComingAndGoing

KEY = jax.random.key(0)


def test_who_is_near_a_landmark_that_is_there_holds_it():
    task = Spread(5)
    landmarks = jnp.array([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)])
    state = replace(task.reset(KEY, 4), landmarks=landmarks)
    beside = jnp.array([(0.09, 0), (0.11, 0), (5, 5), (-1, -1), (0, 0)])  # the fourth: where none is meant
    after = replace(state, positions=landmarks + beside)
    assert task.contributed(state, jnp.zeros(5, int), after).tolist() == [True, False, False, False, False]


def test_all_who_lift_a_food_together_contribute_and_nobody_else():
    task = Foraging(5)
    state = task.reset(KEY, 4)
    foods = len(state.food_levels)
    state = replace(
        state,
        levels=jnp.array([2, 1, 1, 3, 3], jnp.int32),
        positions=jnp.array([(4, 5), (5, 4), (5, 6), (8, 7), (6, 5)], jnp.int32),
        food_positions=jnp.array([(5, 5), (8, 8), *[(0, 0)] * (foods - 2)], jnp.int32),
        food_levels=jnp.array([3, 4, *[0] * (foods - 2)], jnp.int32),
    )
    # The third stands there and does nothing, the fourth is too weak alone, the last is not there.
    actions = jnp.array([LOAD, LOAD, 0, LOAD, LOAD])
    after, outcome = task.step(KEY, state, actions)
    assert outcome.reward > 0
    assert task.contributed(state, actions, after).tolist() == [True, True, False, False, False]


def test_who_brings_a_requested_shelf_to_a_goal_contributes_once():
    task = Warehouse(4)
    state = task.reset(KEY, 3)
    goals = jnp.array(task.floor.goals, jnp.int32)
    state = replace(
        state,
        cells=jnp.array([*(goals - task.floor.width), task.floor.cell_at(0, 0), goals[0]], jnp.int32),
        directions=jnp.full(4, DOWN, jnp.int32),
        carried=jnp.array([7, 8, 9, 10], jnp.int32),
        standing=jnp.where(jnp.isin(state.standing, jnp.arange(7, 11)), 0, state.standing),
        requests=jnp.array([7, 9, 10, 30], jnp.int32),
    )
    # The second has a shelf that nobody wants, the third is elsewhere, the last is not there.
    actions = jnp.array([FORWARD, FORWARD, STAY, STAY])
    after, outcome = task.step(KEY, state, actions)
    assert outcome.reward == 1
    assert task.contributed(state, actions, after).tolist() == [True, False, False, False]
    later, _ = task.step(KEY, after, jnp.full(4, STAY))
    assert not task.contributed(after, jnp.full(4, STAY), later).any()


def test_a_task_need_not_say_it():
    assert Spread(2).tells_contributions
    assert not ComingAndGoing(4).tells_contributions
