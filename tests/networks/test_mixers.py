"""Mixers: their equations a second time, and what must hold of any: monotone, fair to the absent, greedy."""

from dataclasses import replace
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.networks.build import build
from pc3d.networks.critics import TeamView
from pc3d.tasks.spread.world import Spread
from tests import factored_equations as equations
from tests.small import Q_METHODS, active_team, random_team, small_experiment

SLOTS, TEAM, ACTIONS = 6, 4, 3
TOLERANCE = 1e-5
WEIGHTS = ["absolute", "softmax"]
SETS = ["vdn", "qmix-pic", "pc3d-qmix"]


def mixer_of(method, kind="absolute", *, state=False, fresh=False):
    experiment = small_experiment(method)
    algorithm = replace(experiment.algorithm, mixing_weights=kind)
    critic = replace(experiment.critic, global_state=state, team_size_feature=method != "qmix-pic")
    networks = build(jax.random.key(0), replace(experiment, algorithm=algorithm, critic=critic), Spread(10))
    # Small gains would hide mistakes.
    return networks.critic if fresh else jax.tree.map(lambda leaf: leaf * 2 - 0.05, networks.critic)


def view_of(observations, utilities, present=None, state=None):
    present = jnp.ones(len(observations), bool) if present is None else present
    return TeamView(observations, present, None, state, utilities=utilities)


def padded(key=1, team=TEAM, slots=SLOTS):
    return random_team(key, slots, 16), 3 * random_team(key + 1, slots), active_team(team, slots)


@pytest.mark.parametrize("state", [False, True], ids=["no state", "global state"])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("method", Q_METHODS)
def test_a_mixer_is_its_equation(method, kind, state):
    mixer = mixer_of(method, kind, state=state)
    observations, utilities, present = padded()
    states = random_team(5, 70) if state else None
    made = mixer(view_of(observations, utilities, present, states))
    parts = (np.asarray(part, np.float64)[:TEAM] for part in (observations, utilities))
    known = np.asarray(states, np.float64) if state else ()
    expected = equations.MIXERS[method](mixer, *parts, kind, known)
    np.testing.assert_allclose(made, expected, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("method", Q_METHODS)
def test_no_utility_that_rises_lowers_the_teams_value_and_an_absent_one_is_nothing(method, kind):
    mixer = mixer_of(method, kind)
    slopes = jax.jit(jax.vmap(jax.grad(lambda q, seen, there: mixer(view_of(seen, q, there))), (0, 0, 0)))
    cases = [padded(key, team=1 + key % SLOTS) for key in range(60)]
    observations, utilities, present = (jnp.stack(parts) for parts in zip(*cases, strict=True))
    found = np.asarray(slopes(utilities, observations, present))
    assert (found >= 0).all()
    assert (found[~np.asarray(present)] == 0).all()
    assert (found[np.asarray(present)] > 0).mean() > 0.99


@pytest.mark.parametrize("team", [1, 2, 3])
@pytest.mark.parametrize("method", Q_METHODS)
def test_everybodys_best_action_is_the_teams_best_of_all(method, team):
    mixer = mixer_of(method)
    value = jax.jit(jax.vmap(lambda q, seen, there: mixer(view_of(seen, q, there)), (0, None, None)))
    joint = list(product(range(ACTIONS), repeat=team))
    for key in range(5):
        observations, _, present = padded(key, team, slots=3)
        table = np.asarray(random_team(key + 50, team, ACTIONS))
        utilities = np.zeros((len(joint), 3), np.float32)
        utilities[:, :team] = [[table[agent, action] for agent, action in enumerate(each)] for each in joint]
        best = joint[int(np.argmax(value(utilities, observations, present)))]
        assert best == tuple(table.argmax(axis=1))


@pytest.mark.parametrize("garbage", [0.0, 1e30, jnp.nan, jnp.inf])
@pytest.mark.parametrize("method", Q_METHODS)
def test_what_stands_in_empty_slots_changes_no_bit_of_value_or_slope(method, garbage):
    mixer = mixer_of(method)
    observations, utilities, present = padded()
    dirty = jnp.where(present[:, None], observations, garbage), jnp.where(present, utilities, garbage)
    both = jax.jit(jax.value_and_grad(lambda q, seen: mixer(view_of(seen, q, present))))
    for clean, other in zip(both(utilities, observations), both(*dirty[::-1]), strict=True):
        np.testing.assert_array_equal(clean, other)


@pytest.mark.parametrize("method", Q_METHODS)
def test_the_width_of_the_padding_does_not_matter(method):
    mixer = mixer_of(method)
    observations, utilities, _ = padded()
    narrow = mixer(view_of(observations[:TEAM], utilities[:TEAM]))
    wide = mixer(view_of(observations, utilities, active_team(TEAM, SLOTS)))
    np.testing.assert_allclose(narrow, wide, rtol=TOLERANCE)


@pytest.mark.parametrize("method", Q_METHODS)
def test_a_set_of_agents_has_no_order_but_a_padded_list_has(method):
    mixer, order = mixer_of(method), jnp.array([2, 0, 3, 1])
    observations, utilities, _ = padded(team=TEAM, slots=TEAM)
    one, other = (
        mixer(view_of(observations, utilities)),
        mixer(view_of(observations[order], utilities[order])),
    )
    assert bool(jnp.allclose(one, other, rtol=TOLERANCE)) == (method in SETS)


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("method", Q_METHODS)
def test_a_fresh_mixer_is_nearly_the_mean_of_utilities(method, kind):
    mixer = mixer_of(method, kind, fresh=True)
    observations, utilities, _ = padded(team=TEAM, slots=TEAM)
    slopes = jax.grad(lambda q: mixer(view_of(observations, q)))(jnp.abs(utilities))
    np.testing.assert_allclose(slopes, 1 / TEAM, rtol=0.5)
