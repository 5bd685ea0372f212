"""What leaving and joining mean in each task: newcomers have no past, the absent do not count."""

from dataclasses import replace
from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.experiment.named_rosters import NAMED
from pc3d.experiment.roster_process import CONSTANT, Churn
from pc3d.play.episode import draws_of
from pc3d.play.rota import rota_of
from pc3d.system.errors import BadInput
from pc3d.tasks.foraging.world import LOAD, Foraging
from pc3d.tasks.spread.world import Spread
from pc3d.tasks.warehouse.floor import NOTHING
from pc3d.tasks.warehouse.world import FORWARD, TOGGLE_LOAD, Warehouse
from tests.play.coming_and_going import ComingAndGoing

STORM = Churn(leave=0.08, join=0.2, smallest=1)
SIZE = 6
TASKS = [Spread(SIZE, horizon=40), Foraging(SIZE, horizon=40, respawn=True), Warehouse(SIZE, horizon=120)]
NAMES = [task.name for task in TASKS]
EPISODES = 8


step = jax.jit(Foraging.step, static_argnums=0)


@partial(jax.jit, static_argnums=0)
def rota(task, keys, sizes):
    return jnp.moveaxis(rota_of(task, keys, sizes).present, 1, 0)


def stormy(task):
    return task.with_roster(STORM)


@lru_cache
def keys():
    return jax.random.split(jax.random.key(3), EPISODES)


@partial(jax.jit, static_argnums=0)
def played(task, sizes, rosters):
    """The states, views and outcomes of episodes by chance, and who was there; loads are often toggled."""
    draws = draws_of(task, keys())
    likely = [1 + 2 * (name in ("forward", "toggle_load", "load")) for name in task.action_names]
    ends = jnp.cumsum(jnp.asarray(likely)) / sum(likely)
    actions = jnp.sum(draws.chances[..., None] >= ends, axis=-1)
    first, later = (None, None) if rosters is None else (rosters[0], rosters[1:])
    start = jax.vmap(task.begin)(draws.start, sizes, first)

    def step(state, drawn):
        following, outcome = jax.vmap(task.advance)(drawn[0], state, drawn[1], drawn[2])
        return following, (following, jax.vmap(task.observe)(following), outcome)

    return jax.lax.scan(step, start, (draws.steps, actions, later))[1]


@lru_cache
def storm(task):
    sizes = jnp.full(EPISODES, SIZE)
    present = rota(stormy(task), keys(), sizes)
    return np.asarray(present), jax.device_get(played(stormy(task), sizes, present))


def one_moment(task, moment=20):
    """A state in the middle of the first episode."""
    _, (states, _, _) = storm(task)
    return jax.tree.map(lambda values: jnp.asarray(values[moment, 0]), states)


def spoilt(state, slots, garbage):
    """The state with garbage in these slots; what belongs to the world stays."""
    things = {
        name: jnp.where(slots.reshape(-1, *[1] * (value.ndim - 1)), garbage, value).astype(value.dtype)
        for name, value in vars(state).items()
        if name in ("positions", "velocities", "levels", "cells", "directions", "carried")
    }
    return replace(state, **things)


# Whole programs, because they are kept between runs of the tests; those of single operations are not.
@partial(jax.jit, static_argnums=0)
def everything(task, state, actions, present):
    following, outcome = task.advance(jax.random.key(1), state, actions, present)
    return task.observe(state), task.global_state(state), task.observe(following), outcome


@partial(jax.jit, static_argnums=(0, 1, 2))
def starts(task, count, team_size):
    return jax.vmap(lambda key: task.reset(key, team_size))(jax.random.split(jax.random.key(0), count))


@partial(jax.jit, static_argnums=(0, 1, 2))
def joined_by_all_but(task, few, count):
    """One start, joined by everybody else, so many times."""
    state = replace(task.reset(jax.random.key(4), SIZE), there=jnp.arange(SIZE) < few)
    keys = jax.random.split(jax.random.key(0), count)
    return state, jax.vmap(lambda key: task.join(key, state, jnp.arange(SIZE) >= few))(keys)


@partial(jax.jit, static_argnums=0)
def left_by_first(task, state):
    return task.leave(state, jnp.arange(task.slots) < 1)


@pytest.mark.parametrize("task", TASKS, ids=NAMES)
def test_who_is_there_is_who_the_rota_says(task):
    present, (states, views, _) = storm(task)
    np.testing.assert_array_equal(states.there, present[1:])
    sizes = present.sum(axis=2)
    assert (sizes.min(), sizes.max()) == STORM.limits(SIZE, task.fewest_present)[:2]
    assert not views[~present[1:]].any()
    assert np.isfinite(views).all()


@pytest.mark.parametrize("task", TASKS, ids=NAMES)
@pytest.mark.parametrize("garbage", [0, 7])
def test_what_an_absent_slot_holds_changes_nothing(task, garbage):
    task, state = stormy(task), one_moment(task)
    present = jnp.arange(SIZE) < 4
    state = replace(state, there=present)
    actions = jnp.full(SIZE, task.action_count - 1)
    stays = everything(task, state, actions, present)
    held = spoilt(state, ~present, garbage)
    if task.name == "lbf":  # the level of a slot is the same for whoever takes it
        held = replace(held, levels=state.levels)
    other = everything(task, held, jnp.where(present, actions, 0), present)
    jax.tree.map(np.testing.assert_array_equal, stays, other)


@pytest.mark.parametrize("task", TASKS, ids=NAMES)
def test_a_newcomer_does_not_depend_on_the_slots_past(task):
    task, state = stormy(task), one_moment(task)
    state = replace(state, there=jnp.arange(SIZE) < 3)
    pasts = [spoilt(state, jnp.arange(SIZE) == 4, garbage) for garbage in (1, 2)]
    if task.name == "lbf":
        pasts = [replace(past, levels=state.levels) for past in pasts]
    present = jnp.arange(SIZE) != 3
    one, other = (everything(task, past, jnp.zeros(SIZE, int), present) for past in pasts)
    jax.tree.map(np.testing.assert_array_equal, one, other)
    assert one[2][4].any()


@pytest.mark.parametrize("task", TASKS, ids=NAMES)
def test_a_roster_that_could_change_and_does_not_plays_the_original_game(task):
    sizes = jnp.full(EPISODES, 5)
    always = jnp.broadcast_to(jnp.arange(SIZE) < 5, (task.horizon + 1, EPISODES, SIZE))
    _, views, outcomes = played(task, sizes, None)
    _, same_views, same_outcomes = played(task.with_roster(NAMED["lose-one"]), sizes, always)
    np.testing.assert_array_equal(views, same_views)
    jax.tree.map(np.testing.assert_array_equal, outcomes, same_outcomes)


@pytest.mark.parametrize("task", TASKS, ids=NAMES)
def test_a_constant_process_is_no_other_game(task):
    assert task.with_roster(CONSTANT) == task
    assert not task.roster_changes
    assert stormy(task).roster_changes


def test_landmarks_stay_as_many_as_there_were_agents_at_first():
    state = replace(one_moment(TASKS[0]), there=jnp.arange(SIZE) < 1)
    *_, outcome = everything(stormy(TASKS[0]), state, jnp.zeros(SIZE, int), state.there)
    place = state.positions[0] + 0.1 * state.velocities[0]
    away = np.linalg.norm(state.landmarks - place, axis=-1).sum()
    np.testing.assert_allclose(outcome.measures["landmark_distance"], away, rtol=1e-5)


def test_newcomers_of_spread_are_at_rest_anywhere_in_the_square():
    _, joined = joined_by_all_but(TASKS[0], 1, 200)
    places = np.asarray(joined.positions[:, 1:]).ravel()
    assert not joined.velocities[:, 1:].any()
    np.testing.assert_allclose(np.quantile(places, [0, 0.25, 0.5, 0.75, 1]), [-1, -0.5, 0, 0.5, 1], atol=0.08)


@pytest.mark.parametrize("task", TASKS[1:], ids=NAMES[1:])
def test_newcomers_appear_evenly_on_free_cells_and_never_two_on_one(task):
    state, joined = joined_by_all_but(task, 2, 500)
    cells = cells_of(task, joined)
    assert all(len(set(team)) == SIZE for team in cells.tolist())
    found, counts = np.unique(cells[:, 2:], return_counts=True)
    everywhere = 100 - 2 - int((state.food_levels > 0).sum()) if task.name == "lbf" else 200 - 2
    assert len(found) == everywhere
    mean = counts.sum() / everywhere
    assert np.abs(counts - mean).max() < 5 * np.sqrt(mean)


def cells_of(task, states):
    if task.name == "rware":
        return np.asarray(states.cells)
    return np.asarray(states.positions[..., 0] * task.field.side + states.positions[..., 1])


def test_food_of_any_team_can_be_lifted_by_any_three_who_may_ever_be_there():
    task = Foraging(8).with_roster(NAMED["gain-half"])
    states = starts(task, 200, 5)
    weakest = np.sort(np.asarray(states.levels)[:, :7], axis=1)[:, :3].sum(axis=1)
    np.testing.assert_array_equal(np.asarray(states.food_levels).max(axis=1), weakest)


def test_food_grows_again_where_it_could_have_lain_and_the_game_goes_on():
    task = TASKS[1]
    _, (states, _, outcomes) = storm(task)
    levels, places = np.asarray(states.food_levels), np.asarray(states.food_positions)
    assert not outcomes.terminated.any()
    assert (levels[..., :3] > 0).all()  # three foods for six agents
    assert not (levels[..., 3:] > 0).any()
    assert ((places[..., :3, :] > 0) & (places[..., :3, :] < 9)).all()
    apart = np.abs(places[..., :3, None, :] - places[..., None, :3, :]).sum(axis=-1)
    assert apart[..., ~np.eye(3, dtype=bool)].min() > 2


def test_whoever_loads_all_food_finds_it_grown_again_elsewhere():
    task, state = TASKS[1], one_moment(TASKS[1])
    place = state.food_positions[0]
    beside = place + jnp.array([[0, 1], [0, -1], [1, 0], [-1, 0], [0, 1], [0, -1]])
    state = replace(state, positions=beside, there=jnp.ones(SIZE, bool))
    following, outcome = step(task, jax.random.key(0), state, jnp.full(SIZE, LOAD))
    assert outcome.measures["food_fraction"] > 0
    assert (following.food_levels[:3] == state.food_levels[0]).all()
    assert (following.food_positions[0] != place).any()


def test_shelves_are_conserved_and_never_stand_on_a_highway_at_any_churn():
    task = TASKS[2]
    present, (states, _, _) = storm(task)
    floor, standing = task.floor, np.asarray(states.standing)
    carried = np.where(present[1:], states.carried, NOTHING)
    shelves = np.sort(np.concatenate([standing, carried], axis=-1), axis=-1)[..., -80:]
    np.testing.assert_array_equal(shelves, np.broadcast_to(np.arange(1, 81), shelves.shape))
    assert not standing[..., floor.highway].any()
    assert carried.any(axis=(0, 1)).all()
    gone = (np.asarray(states.carried)[:-1] > 0) & present[1:-1] & ~present[2:]
    assert gone.sum() > 5  # robots did leave with a shelf


def test_a_robot_with_a_shelf_never_stands_below_another():
    task = TASKS[2]
    present, (states, _, _) = storm(task)
    here = np.take_along_axis(np.asarray(states.standing), np.asarray(states.cells) * present[1:], axis=-1)
    assert not here[present[1:] & (np.asarray(states.carried) > 0)].any()


def test_robots_never_share_a_cell():
    task = TASKS[2]
    present, (states, _, _) = storm(task)
    cells = np.where(present[1:], states.cells, -np.arange(1, SIZE + 1))
    assert (np.diff(np.sort(cells, axis=-1), axis=-1) > 0).all()


def test_a_carried_shelf_goes_home_or_as_near_as_it_can_stand_and_stays_requested():
    task = stormy(Warehouse(2))
    floor, home = task.floor, task.floor.storage[0]
    start = jax.tree.map(lambda values: values[0], starts(task, 1, 2))
    state = replace(start, requests=jnp.array([1, 7]), there=jnp.ones(2, bool))
    carrying = replace(
        state,
        carried=jnp.array([1, 2]),
        standing=state.standing.at[floor.storage[:2]].set(NOTHING),
        cells=jnp.array([floor.goals[0], home]),
    )
    # The other robot stands at its home with a shelf of its own, so it goes to the nearest place left.
    left = left_by_first(task, carrying)
    assert left.standing[floor.storage[1]] == 1
    assert left.standing[home] == NOTHING
    elsewhere = replace(carrying, cells=jnp.array([floor.goals[0], floor.goals[1]]))
    left = left_by_first(task, elsewhere)
    assert left.standing[home] == 1
    assert left.requests.tolist() == [1, 7]


def test_requests_stay_as_many_as_there_were_robots_at_first():
    present, (states, _, _) = storm(TASKS[2])
    assert present.sum(axis=2).min() < SIZE
    assert (np.asarray(states.requests) > 0).all()


def test_a_task_that_does_not_say_what_joining_means_keeps_its_rosters():
    with pytest.raises(BadInput, match="has constant rosters"):
        ComingAndGoing(4).with_roster(NAMED["lose-one"])


def test_actions_that_matter_are_likelier_here():
    assert (TASKS[2].action_names[FORWARD], TASKS[2].action_names[TOGGLE_LOAD]) == ("forward", "toggle_load")
