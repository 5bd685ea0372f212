"""Simple Spread: known answers, what must not matter, and where episodes start."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import ks_2samp, kstest

from pc3d.tasks.spread.original import OriginalSpread
from pc3d.tasks.spread.world import Spread, SpreadState

KEY = jax.random.key(0)
STAY, LEFT, RIGHT, DOWN, UP = range(5)

step = jax.jit(Spread.step, static_argnums=0)
observe = jax.jit(Spread.observe, static_argnums=0)


def state_of(positions, landmarks, velocities=None) -> SpreadState:
    positions = jnp.asarray(positions, float)
    return SpreadState(
        team_size=jnp.int32(len(positions)),
        time=jnp.int32(0),
        positions=positions,
        velocities=jnp.zeros_like(positions) if velocities is None else jnp.asarray(velocities, float),
        landmarks=jnp.asarray(landmarks, float),
    )


def crowded(slots: int, team_size: int, seed: int) -> SpreadState:
    """A start in a quarter of the arena, everyone moving: contacts for sure."""
    state = Spread(slots).reset(jax.random.key(seed), team_size)
    speeds = Spread(slots).reset(jax.random.key(seed + 1), team_size).positions
    return replaced(state, state.positions / 4, speeds)


def replaced(state: SpreadState, positions, velocities) -> SpreadState:
    return eqx.tree_at(lambda state: (state.positions, state.velocities), state, (positions, velocities))


def with_garbage(state: SpreadState, team_size: int, garbage: float) -> SpreadState:
    def spoil(values):
        return values.at[team_size:].set(garbage) if values.ndim else values

    return jax.tree.map(spoil, state)


def everything(task: Spread, state: SpreadState, actions):
    """All that a step shows to anybody."""
    following, outcome = step(task, KEY, state, actions)
    return observe(task, state), observe(task, following), task.global_state(following), outcome


def test_an_action_moves_the_agent_one_step_later():
    task = Spread(1)
    state = state_of([[0.0, 0.0]], [[1.0, 0.0]])
    state, outcome = step(task, KEY, state, jnp.array([RIGHT]))
    assert outcome.reward == -1.0
    np.testing.assert_allclose(state.velocities, [[0.5, 0.0]])
    state, outcome = step(task, KEY, state, jnp.array([STAY]))
    np.testing.assert_allclose(state.positions, [[0.05, 0.0]], rtol=1e-6)
    np.testing.assert_allclose(state.velocities, [[0.375, 0.0]])
    np.testing.assert_allclose(outcome.reward, -0.95, rtol=1e-6)


def test_an_agent_sees_the_three_nearest_in_order_and_zeros_beyond():
    state = state_of(
        positions=[[0.0, 0.0], [0.9, 0.0], [0.0, 0.5], [-0.4, 0.0], [0.8, 0.8]],
        landmarks=[[0.1, 0.0], [0.0, -0.2], [0.5, 0.5], [0.3, 0.0], [-1.0, -1.0]],
    )
    view = observe(Spread(5), state)[0]
    np.testing.assert_allclose(view[4:10], [0.1, 0.0, 0.0, -0.2, 0.3, 0.0], rtol=1e-6)
    np.testing.assert_allclose(view[10:], [-0.4, 0.0, 0.0, 0.5, 0.9, 0.0], rtol=1e-6)
    alone = observe(Spread(1), state_of([[0.2, 0.3]], [[0.5, 0.5]]))[0]
    np.testing.assert_allclose(alone, [0, 0, 0.2, 0.3, 0.3, 0.2] + [0] * 10, rtol=1e-6)


@pytest.mark.parametrize(("collisions", "penalty"), [("pairs", 2.0), ("sum", 4.0), ("mean", 4 / 3)])
def test_collisions_count_as_the_setting_says(collisions, penalty):
    """Three in a row: the middle one touches both others; each stands on a landmark."""
    row = [[-0.2, 0.0], [0.0, 0.0], [0.2, 0.0]]
    _, outcome = step(Spread(3, collisions=collisions), KEY, state_of(row, row), jnp.zeros(3, int))
    np.testing.assert_allclose(outcome.reward, -penalty, rtol=1e-6)
    assert outcome.measures["colliding_pairs"] == 2
    assert outcome.measures["landmark_distance"] == 0


@pytest.mark.parametrize("collisions", ["pairs", "sum", "mean"])
def test_every_convention_is_the_originals(collisions):
    task = Spread(5, collisions=collisions)
    world = OriginalSpread(task)
    state = crowded(5, 5, seed=2)
    world.load(state)
    actions = np.array([STAY, LEFT, RIGHT, DOWN, UP])
    _, outcome = step(task, KEY, state, actions)
    original = world.step(actions)
    assert original.measures["colliding_pairs"] > 0
    np.testing.assert_allclose(outcome.reward, original.reward, atol=1e-5)


def test_touching_agents_push_each_other_apart():
    state = state_of([[-0.1, 0.0], [0.1, 0.0]], [[0.0, 0.0], [1.0, 1.0]])
    moved, _ = step(Spread(2), KEY, state, jnp.zeros(2, int))
    # 100 × the overlap of 0.1, for a tenth of a second.
    np.testing.assert_allclose(moved.velocities, [[-1.0, 0.0], [1.0, 0.0]], atol=1e-4)


def test_an_episode_ends_by_its_time_limit_only():
    task = Spread(2)
    state = task.reset(KEY, 2)
    for time in range(1, 26):
        state, outcome = step(task, KEY, state, jnp.zeros(2, int))
        assert not outcome.terminated
        assert bool(outcome.truncated) == (time == 25)


@pytest.mark.parametrize("garbage", [jnp.nan, jnp.inf, 1e30, 0.0])
def test_what_stands_in_padded_slots_changes_no_bit(garbage):
    task = Spread(8)
    state = crowded(8, 5, seed=3)
    actions = jnp.array([1, 2, 3, 4, 0, 0, 0, 0])
    spoilt = everything(task, with_garbage(state, 5, garbage), actions.at[5:].set(4))
    jax.tree.map(np.testing.assert_array_equal, everything(task, state, actions), spoilt)


def overwrite(narrow, wide):
    """The narrow world's array in place of the wide one's first slots."""
    return wide.at[: len(narrow)].set(narrow) if narrow.ndim else narrow


@pytest.mark.parametrize("team_size", [1, 3, 6])
def test_a_team_plays_the_same_in_a_wider_world(team_size):
    narrow, wide = Spread(team_size), Spread(10)
    state, padded = narrow.reset(KEY, team_size), wide.reset(KEY, team_size)
    for time in range(25):
        actions = jax.random.randint(jax.random.key(time), (10,), 0, 5)
        np.testing.assert_allclose(observe(narrow, state), observe(wide, padded)[:team_size], atol=1e-6)
        assert not observe(wide, padded)[team_size:].any()
        # Every step from the same state: contacts would blow up the last bit's difference in time.
        padded = jax.tree.map(overwrite, state, padded)
        state, outcome = step(narrow, KEY, state, actions[:team_size])
        padded, padded_outcome = step(wide, KEY, padded, actions)
        np.testing.assert_allclose(outcome.reward, padded_outcome.reward, atol=1e-6)
        np.testing.assert_allclose(state.velocities, padded.velocities[:team_size], atol=1e-6)


def test_team_size_may_be_traced():
    task = Spread(6)
    first_views = jax.jit(lambda size: task.observe(task.reset(KEY, size)))
    for size in (1, 4):
        np.testing.assert_allclose(first_views(size), observe(task, task.reset(KEY, size)), atol=1e-6)


def test_permuting_agents_permutes_what_they_see_and_keeps_the_reward():
    task = Spread(6)
    state = crowded(6, 6, seed=5)
    actions = jnp.array([0, 1, 2, 3, 4, 1])
    order = jnp.array([3, 0, 5, 1, 4, 2])
    permuted = replaced(state, state.positions[order], state.velocities[order])
    view, next_view, _, outcome = everything(task, state, actions)
    permuted_view, permuted_next, _, permuted_outcome = everything(task, permuted, actions[order])
    np.testing.assert_allclose(permuted_view, view[order], atol=1e-6)
    np.testing.assert_allclose(permuted_next, next_view[order], atol=1e-5)
    np.testing.assert_allclose(permuted_outcome.reward, outcome.reward, atol=1e-5)


@pytest.fixture(scope="module")
def starts() -> np.ndarray:
    """Agents, then landmarks, of many starts of the port: start × point × axis."""
    states = jax.vmap(lambda key: Spread(3).reset(key, 3))(jax.random.split(KEY, 2000))
    assert not states.velocities.any()
    return np.concatenate([states.positions, states.landmarks], axis=1)


def test_starts_are_uniform_and_independent(starts):
    """Kolmogorov and Smirnov, with a fixed seed: a fair draw would fail once in 10,000 for each number."""
    numbers = starts.reshape(len(starts), -1)
    for column in numbers.T:
        assert kstest(column, "uniform", args=(-1, 2)).pvalue > 1e-4
    correlations = np.corrcoef(numbers.T) - np.eye(numbers.shape[1])
    assert np.abs(correlations).max() < 0.1  # 4.5 standard errors


def test_starts_are_distributed_as_the_originals(starts):
    """The two-sample test, over all numbers at once: a fair draw would fail once in 10,000."""
    world = OriginalSpread(Spread(3))
    originals = []
    for seed in range(1000):
        world.reset(seed)
        state = world.read()
        originals.append(np.concatenate([state.positions, state.landmarks]))
    assert ks_2samp(starts.ravel(), np.ravel(originals)).pvalue > 1e-4


@pytest.mark.parametrize("team_size", [1, 6])
def test_pictures_are_drawn_whatever_the_padding_holds(team_size):
    task = Spread(8)
    state = crowded(8, team_size, seed=1)
    for show_range in (False, True):
        picture = task.draw(with_garbage(state, team_size, jnp.nan), size=120, show_range=show_range)
        assert picture.shape == (120, 120, 3)
        np.testing.assert_array_equal(picture, task.draw(state, size=120, show_range=show_range))


def test_a_film_stands_still_when_somebody_leaves_the_arena():
    """Nobody is in the left half, so only a moving camera could change it."""
    task = Spread(1)
    inside = replace(
        crowded(1, 1, seed=1), positions=jnp.array([[0.5, 0.5]]), landmarks=jnp.array([[0.5, -0.5]])
    )
    outside = replace(inside, positions=jnp.array([[1.6, 0.5]]))
    first, second = task.film([inside, outside], size=120)
    np.testing.assert_array_equal(first[:, :60], second[:, :60])
    assert (first != second).any()
    assert (task.draw(inside, size=120)[:, :60] != first[:, :60]).any()  # alone, it is shown larger
