"""Level-based foraging against lbforaging itself, and what must hold for every team and padding."""

import sys
from dataclasses import replace
from functools import lru_cache, partial
from operator import itemgetter

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chi2_contingency

from pc3d.system.errors import BadInput, MissingExtra
from pc3d.tasks.foraging.field import FOODS_BY_TEAM_SIZE, MOST_FOODS, SIDE
from pc3d.tasks.foraging.original import OriginalForaging
from pc3d.tasks.foraging.parity import CASE
from pc3d.tasks.foraging.world import (
    EAST,
    LOAD,
    NONE,
    NORTH,
    SEEN_TEAMMATES,
    SOUTH,
    Foraging,
    ForagingState,
)

TEAM_SIZES = tuple(FOODS_BY_TEAM_SIZE)
SIGNIFICANCE = 1e-3
EPISODES_PER_START, STEPS_PER_EPISODE = 16, 10
KEY = jax.random.key(0)

step_two, observe_two = jax.jit(partial(Foraging(2).step, KEY)), jax.jit(Foraging(2).observe)
reset_many = jax.jit(jax.vmap(Foraging(8).reset, in_axes=(0, None)))


def play_original(team_size):
    """Steps of the original from every kind of start; loading often, because a chance joint load is rare."""
    world = OriginalForaging(Foraging(team_size))
    generator = np.random.default_rng(team_size)
    starts = [partial(start, generator, world.task) for start in CASE.scenarios.values()] + [None]
    for start in starts * EPISODES_PER_START:
        world.reset(int(generator.integers(2**31))) if start is None else world.load(start())
        for _ in range(STEPS_PER_EPISODE):
            state, view, valid = world.read(), world.observe(), valid_actions(world)
            loading = generator.random(team_size) < generator.choice([0.1, 0.95])
            actions = np.where(loading, LOAD, generator.integers(0, 6, team_size))
            outcome = world.step(actions)
            yield state, view, valid, actions, world.read(), outcome
            if outcome.terminated or outcome.truncated:
                break


def valid_actions(world):
    by_player = [world._environment._valid_actions[player] for player in world._environment.players]
    return np.array(
        [[action in {valid.value for valid in player} for action in range(6)] for player in by_player]
    )


@lru_cache
def original_steps(team_size):
    return jax.tree.map(lambda *values: np.stack(values), *play_original(team_size))


@pytest.mark.parametrize("team_size", TEAM_SIZES)
def test_every_step_equals_the_original_bit_for_bit_in_float64(team_size):
    states, views, valid, actions, next_states, outcomes = original_steps(team_size)
    task = Foraging(team_size)
    with jax.enable_x64(True):
        views_and_steps = jax.jit(jax.vmap(partial(views_and_step, task)))
        (port_views, port_valid, _), (port_states, port_outcomes) = views_and_steps(states, actions)
    jax.tree.map(np.testing.assert_array_equal, port_states, next_states)
    jax.tree.map(np.testing.assert_array_equal, port_outcomes, outcomes)
    np.testing.assert_array_equal(port_views, views)
    np.testing.assert_array_equal(port_valid, valid)
    assert port_outcomes.reward.dtype == np.float64


@pytest.mark.parametrize("team_size", TEAM_SIZES)
def test_rewards_equal_the_original_in_float32(team_size):
    states, _, _, actions, _, outcomes = original_steps(team_size)
    _, port_outcomes = jax.jit(jax.vmap(partial(Foraging(team_size).step, KEY)))(states, actions)
    np.testing.assert_allclose(port_outcomes.reward, outcomes.reward, rtol=0, atol=1e-6)
    assert port_outcomes.reward.dtype == np.float32


def test_the_compared_steps_hold_the_rare_events():
    outcomes = [original_steps(size)[-1] for size in TEAM_SIZES]
    assert all(np.count_nonzero(outcome.reward) > 10 for outcome in outcomes)
    assert all(np.count_nonzero(outcome.terminated) > 2 for outcome in outcomes)
    assert sum(np.count_nonzero(outcome.truncated) for outcome in outcomes) > 20
    positions = original_steps(8)[4].positions
    same = np.all(positions[:, :, None] == positions[:, None], axis=-1).sum(axis=(1, 2)) > 8
    assert np.count_nonzero(same) > 100


@pytest.mark.parametrize("team_size", TEAM_SIZES)
def test_our_view_holds_all_that_the_native_view_shows_of_the_nearest(team_size):
    world = OriginalForaging(Foraging(team_size))
    observe = jax.jit(Foraging(team_size).observe)
    for seed in range(40):
        world.load(CASE.scenarios["at the border"](np.random.default_rng(seed), world.task))
        for ours, native in zip(observe(world.read()), world._views, strict=True):
            foods, own, teammates = native_from_ours(np.asarray(ours))
            native_foods, native_own, native_teammates = split_native(native, team_size)
            assert own == native_own
            assert sorted(foods) == native_foods  # the native order is by row, then column
            if len(native_teammates) <= SEEN_TEAMMATES:
                assert sorted(teammates) == sorted(native_teammates)
            else:
                assert len(teammates) == SEEN_TEAMMATES
                assert set(teammates) <= set(native_teammates)


def native_from_ours(view):
    own, entities = view[:3], view[3:].reshape(-1, 3)
    shown = [tuple(entity + np.append(own[:2], 0)) if entity[2] > 0 else None for entity in entities]
    foods, teammates = shown[:MOST_FOODS], shown[MOST_FOODS:]
    return [food for food in foods if food], tuple(own), [mate for mate in teammates if mate]


def split_native(view, team_size):
    triples = [tuple(triple) for triple in view.reshape(-1, 3)]
    count = FOODS_BY_TEAM_SIZE[team_size]
    teammates = [triple for triple in triples[count + 1 :] if triple[2] > 0]
    return [triple for triple in triples[:count] if triple[2] > 0], triples[count], teammates


@pytest.mark.parametrize("team_size", [2, 5, 7])
def test_padding_changes_nothing_whatever_stands_in_it(team_size):
    narrow, wide = Foraging(team_size), Foraging(8)
    reset_narrow, reset_wide = jax.jit(narrow.reset), jax.jit(wide.reset)
    play_narrow, play_wide = jax.jit(partial(views_and_step, narrow)), jax.jit(partial(views_and_step, wide))
    for seed in range(3):
        key, generator = jax.random.key(seed), np.random.default_rng(seed)
        state, padded = reset_narrow(key, team_size), reset_wide(key, team_size)
        for _ in range(25):
            assert_same_team(state, padded)
            actions = generator.choice([NORTH, SOUTH, EAST, LOAD, LOAD], 8)
            views, (state, outcome) = play_narrow(state, actions[:team_size])
            padded_views, (padded, padded_outcome) = play_wide(
                with_garbage(padded, team_size, generator), actions
            )
            assert_same_views(team_size, views, padded_views)
            jax.tree.map(np.testing.assert_array_equal, outcome, padded_outcome)


def views_and_step(task, state, actions):
    views = task.observe(state), task.available_actions(state), task.global_state(state)
    return views, task.step(KEY, state, actions)


def with_garbage(state, team_size, generator):
    """Padded agents on the cells of real ones and of foods, or anywhere, with any level."""
    positions, levels = np.array(state.positions), np.array(state.levels)
    padded = 8 - team_size
    places = [*positions[:team_size], *np.asarray(state.food_positions), (-(2**31), 2**31 - 1), (2**30, -7)]
    positions[team_size:] = generator.permutation(np.array(places))[:padded]
    levels[team_size:] = generator.integers(-(2**31), 2**31, padded)
    return replace(state, positions=jnp.asarray(positions), levels=jnp.asarray(levels))


def assert_same_team(state, padded):
    size = int(state.team_size)
    cut = replace(padded, positions=padded.positions[:size], levels=padded.levels[:size])
    jax.tree.map(np.testing.assert_array_equal, state, cut)


def assert_same_views(team_size, views, padded_views):
    (seen, available, whole), (padded_seen, padded_available, padded_whole) = views, padded_views
    np.testing.assert_array_equal(seen, padded_seen[:team_size])
    np.testing.assert_array_equal(available, padded_available[:team_size])
    np.testing.assert_array_equal(whole, padded_whole)
    assert not np.any(padded_seen[team_size:])
    assert np.all(padded_available[team_size:] == (np.arange(6) == NONE))


@pytest.mark.parametrize("scenario", CASE.scenarios)
def test_permuting_agents_permutes_their_views_and_leaves_the_reward(scenario):
    task, generator = Foraging(8), np.random.default_rng(1)
    states = stack([CASE.scenarios[scenario](generator, task) for _ in range(200)])
    actions = np.where(generator.random((200, 8)) < 0.5, LOAD, generator.integers(0, 6, (200, 8)))
    order = generator.permutation(8)
    shuffled = eqx.tree_at(
        lambda of: (of.positions, of.levels), states, (states.positions[:, order], states.levels[:, order])
    )
    observe, step = jax.jit(jax.vmap(task.observe)), jax.jit(jax.vmap(partial(task.step, KEY)))
    np.testing.assert_array_equal(observe(states)[:, order], observe(shuffled))
    moved, outcome = step(states, actions)
    shuffled_moved, shuffled_outcome = step(shuffled, actions[:, order])
    np.testing.assert_array_equal(moved.positions[:, order], shuffled_moved.positions)
    np.testing.assert_array_equal(moved.food_levels, shuffled_moved.food_levels)
    np.testing.assert_allclose(outcome.reward, shuffled_outcome.reward, rtol=1e-6)  # the sum's order differs


def stack(states):
    return jax.tree.map(lambda *values: np.stack(values), *states)


@lru_cache
def starts(team_size, count=3000):
    """As many starts of the port and of the original."""
    world = OriginalForaging(Foraging(team_size))

    def original(seed):
        world.reset(seed)
        return world.read()

    port = jax.tree.map(np.asarray, reset_many(jax.random.split(jax.random.key(5), count), team_size))
    port_one_by_one = [foods_by_row(jax.tree.map(itemgetter(start), port)) for start in range(count)]
    return port_one_by_one, [original(seed) for seed in range(count)]


def foods_by_row(state):
    """In the order in which they are read off the original's grid."""
    count = FOODS_BY_TEAM_SIZE[int(state.team_size)]
    foods = state.food_positions.copy()
    foods[:count] = sorted(foods[:count].tolist())
    return replace(state, food_positions=foods)


STATISTICS = {
    "cell of the first agent": lambda state, _: cell_number(state.positions[0]),
    "cell of the last agent": lambda state, _: cell_number(state.positions[int(state.team_size) - 1]),
    "cell of any food": lambda state, food: cell_number(state.food_positions[food]),
    "levels of the first two agents": lambda state, _: 3 * state.levels[0] + state.levels[1],
    "level of any food": lambda state, food: state.food_levels[food],
    "level of all foods": lambda state, _: state.spawned_level,
    "rows and columns between two foods": lambda state, food: cell_number(
        np.abs(state.food_positions[food] - state.food_positions[1 - min(food, 1)])
    ),
    "steps from an agent to any food": lambda state, food: np.abs(
        state.food_positions[food] - state.positions[1]
    ).sum(),
    "steps between two agents": lambda state, _: np.abs(state.positions[0] - state.positions[1]).sum(),
}


def cell_number(position):
    return SIDE * position[0] + position[1]


@pytest.mark.parametrize("team_size", [2, 7])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_starts_are_distributed_as_the_original_draws_them(statistic, team_size):
    """Two samples of 3000, chi-square; one random food per start keeps the samples independent."""
    values = []
    for states in starts(team_size):
        foods = np.random.default_rng(2).integers(0, FOODS_BY_TEAM_SIZE[team_size], len(states))
        values.append([int(STATISTICS[statistic](*pair)) for pair in zip(states, foods, strict=True)])
    counts = np.stack([np.bincount(value, minlength=SIDE * SIDE + 20) for value in values])
    counts = counts[:, counts.sum(axis=0) >= 10]
    assert chi2_contingency(counts).pvalue > SIGNIFICANCE if counts.shape[1] > 1 else counts[0] == counts[1]


@pytest.mark.parametrize("team_size", TEAM_SIZES)
def test_a_start_keeps_the_rules_of_placement(team_size):
    states = reset_many(jax.random.split(KEY, 500), team_size)
    count = FOODS_BY_TEAM_SIZE[team_size]
    agents, foods = np.asarray(states.positions)[:, :team_size], np.asarray(states.food_positions)[:, :count]
    everything = np.concatenate([agents, foods], axis=1)
    assert all(len(np.unique(positions, axis=0)) == len(positions) for positions in everything)
    assert np.all((foods > 0) & (foods < SIDE - 1))
    between = np.abs(foods[:, :, None] - foods[:, None]).sum(axis=-1)[:, ~np.eye(count, dtype=bool)]
    assert np.all(between > 2)
    weakest = np.sort(np.asarray(states.levels)[:, :team_size], axis=-1)[:, :3].sum(axis=-1)
    np.testing.assert_array_equal(states.food_levels, weakest[:, None] * (np.arange(MOST_FOODS) < count))
    np.testing.assert_array_equal(states.spawned_level, weakest * count)


def two_agents(positions, foods, *, time=0, levels=(1, 2)):
    """A team of two and up to two foods of level 3; the second one is gone if it is not given."""
    return ForagingState(
        team_size=jnp.int32(2),
        time=jnp.int32(time),
        positions=jnp.array(positions, jnp.int32),
        levels=jnp.array(levels, jnp.int32),
        food_positions=jnp.zeros((MOST_FOODS, 2), jnp.int32).at[: len(foods)].set(jnp.array(foods)),
        food_levels=jnp.where(jnp.arange(MOST_FOODS) < len(foods), 3, 0),
        spawned_level=jnp.int32(6),
    )


def step(state, *actions):
    return step_two(state, jnp.array(actions))


def test_one_agent_alone_lifts_nothing():
    state, outcome = step(two_agents([(3, 4), (3, 6)], [(3, 5), (7, 7)]), NONE, LOAD)
    assert outcome.reward == 0
    assert outcome.measures["food_fraction"] == 0
    np.testing.assert_array_equal(state.food_levels, [3, 3, 0, 0])


def test_two_agents_lift_a_food_together():
    state, outcome = step(two_agents([(3, 4), (3, 6)], [(3, 5), (7, 7)]), LOAD, LOAD)
    np.testing.assert_allclose(outcome.reward, 1 / 2)
    assert outcome.measures["food_fraction"] == 1 / 2
    assert not outcome.terminated
    np.testing.assert_array_equal(state.food_levels, [0, 3, 0, 0])


def test_all_foods_together_are_worth_one_and_the_reported_return_is_per_agent():
    state = two_agents([(3, 4), (3, 6)], [(3, 5), (7, 7)])
    state, first = step(state, LOAD, LOAD)
    state, second = step(replace(state, positions=jnp.array([(7, 6), (6, 7)], jnp.int32)), LOAD, LOAD)
    np.testing.assert_allclose(first.reward + second.reward, 1)
    np.testing.assert_allclose(
        Foraging(2).reported_return(first.reward + second.reward, state.team_size), 1 / 2
    )


@pytest.mark.parametrize("time", [10, 49])
def test_the_last_food_terminates_and_never_truncates(time):
    _, outcome = step(two_agents([(3, 4), (3, 6)], [(3, 5)], time=time), LOAD, LOAD)
    assert outcome.terminated
    assert not outcome.truncated


def test_the_time_limit_truncates_while_food_is_left():
    _, before = step(two_agents([(3, 4), (3, 6)], [(3, 5)], time=48), NONE, LOAD)
    _, last = step(two_agents([(3, 4), (3, 6)], [(3, 5)], time=49), NONE, LOAD)
    assert not before.truncated
    assert last.truncated
    assert not last.terminated


def test_agents_swap_places_but_neither_enters_a_cell_that_both_want():
    swapped, _ = step(two_agents([(3, 4), (4, 4)], [(7, 7)]), SOUTH, NORTH)
    np.testing.assert_array_equal(swapped.positions, [(4, 4), (3, 4)])
    stuck, _ = step(two_agents([(3, 4), (5, 4)], [(7, 7)]), SOUTH, NORTH)
    np.testing.assert_array_equal(stuck.positions, [(3, 4), (5, 4)])


def test_food_and_walls_stop_an_agent():
    state, _ = step(two_agents([(0, 4), (7, 6)], [(7, 7)]), NORTH, EAST)
    np.testing.assert_array_equal(state.positions, [(0, 4), (7, 6)])


def test_an_agent_in_the_corner_sees_one_that_does_not_see_it():
    near_corner, far = observe_two(two_agents([(0, 0), (4, 4)], [(7, 7)]))
    np.testing.assert_array_equal(near_corner[15:18], [4, 4, 2])
    assert not np.any(far[15:18])


def test_nearer_foods_come_first_and_ties_go_by_row():
    view = observe_two(two_agents([(5, 5), (9, 9)], [(6, 5), (4, 4), (4, 6)]))[0]
    np.testing.assert_array_equal(view[3:15].reshape(4, 3), [(1, 0, 3), (-1, -1, 3), (-1, 1, 3), (0, 0, 0)])


def test_states_keep_their_types_so_that_they_can_be_scanned():
    task = Foraging(8)
    for precision in (False, True):
        with jax.enable_x64(precision):
            state = jax.eval_shape(task.reset, KEY, 4)
            moved, outcome = jax.eval_shape(task.step, KEY, state, jnp.full(8, LOAD))
            assert all(map(same_type, jax.tree.leaves(state), jax.tree.leaves(moved)))
            assert outcome.reward.dtype == jax.eval_shape(task.observe, state).dtype == jnp.zeros(0).dtype


def same_type(one, other):
    return one.dtype == other.dtype and one.shape == other.shape


def test_widths_do_not_depend_on_the_team():
    for task in (Foraging(2), Foraging(8)):
        state = jax.eval_shape(task.reset, KEY, 2)
        assert jax.eval_shape(task.observe, state).shape == (task.slots, task.observation_width)
        assert jax.eval_shape(task.global_state, state).shape == (36,)


def test_a_picture_shows_the_sight_range_on_request():
    task = Foraging(8)
    state = jax.jit(task.reset)(KEY, 5)
    plain, ranged = task.draw(state, size=120), task.draw(state, size=120, show_range=True)
    assert plain.shape == (120, 120, 3)
    assert plain.dtype == np.uint8
    assert np.any(plain != ranged)


@pytest.mark.parametrize("slots", [-1, 0, 1, 97])
def test_a_team_that_the_game_does_not_know_is_refused(slots):
    with pytest.raises(
        BadInput, match=r"2 to 96 agents .one cell each for agents and 4 foods on 10 × 10., not"
    ):
        Foraging(slots)


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "lbforaging.foraging", None)
    with pytest.raises(MissingExtra, match=r"\.whl\[originals\]"):
        OriginalForaging(Foraging(2))
