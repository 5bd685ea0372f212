"""Advantages against the definition, at ends and at time limits, and the running scale of values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.learners.ppo.advantages import Departures, generalised_advantages
from pc3d.learners.value_scale import ValueScale
from tests import paper_equations as paper
from tests.small import random_team

STEPS = 6


@pytest.mark.parametrize(
    ("terminates", "bootstraps"), [(True, True), (True, False), (False, True), (False, False)]
)
def test_advantages_are_the_double_sum_of_the_definition(terminates, bootstraps):
    rewards, values = random_team(0, STEPS), random_team(1, STEPS + 1)
    played, terminated = jnp.ones(STEPS, bool), jnp.zeros(STEPS, bool).at[-1].set(terminates)
    found = generalised_advantages(
        rewards, values, played, terminated, 0.9, 0.8, horizon_bootstraps=bootstraps
    )
    expected = paper.advantages(
        np.asarray(rewards, np.float64),
        np.asarray(values, np.float64),
        0.9,
        0.8,
        terminates or not bootstraps,
    )
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_nothing_after_the_end_of_an_episode_counts():
    rewards, values = random_team(0, STEPS), random_team(1, STEPS + 1)
    played, terminated = jnp.arange(STEPS) < 4, jnp.arange(STEPS) == 3
    found = generalised_advantages(rewards, values, played, terminated, 0.9, 0.8, horizon_bootstraps=True)
    expected = paper.advantages(np.asarray(rewards[:4]), np.asarray(values[:5]), 0.9, 0.8, True)
    np.testing.assert_allclose(found[:4], expected, atol=1e-5)
    np.testing.assert_array_equal(found[4:], 0)


PRESENT = np.array([[1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 1, 1], [1, 0, 1, 1, 1, 0, 0]], bool).T


def advantages_with_departures(rewards, values, bootstraps=True):
    played, terminated = jnp.ones(STEPS, bool), jnp.zeros(STEPS, bool)
    departures = Departures.of(values, jnp.asarray(PRESENT))

    def of_one(values, departures):
        return generalised_advantages(
            *(rewards, values, played, terminated, 0.9, 0.8),
            horizon_bootstraps=bootstraps,
            departures=departures,
        )

    return np.asarray(jax.vmap(of_one, in_axes=1, out_axes=1)(values, departures))


@pytest.mark.parametrize("bootstraps", [True, False])
def test_for_who_leaves_the_team_goes_on_as_those_expect_who_are_there(bootstraps):
    rewards, values = random_team(0, STEPS), random_team(1, STEPS + 1, 3)
    found = advantages_with_departures(rewards, values, bootstraps)
    for agent, slot in enumerate(PRESENT.T):
        for moment in np.flatnonzero(slot[:-1]):
            expected, weight = 0.0, 1.0
            for step in range(moment, STEPS):
                stays = slot[step + 1]
                following = values[step + 1, agent] if stays else values[step + 1][PRESENT[step + 1]].mean()
                following = following if bootstraps or step < STEPS - 1 else 0
                expected += weight * (rewards[step] + 0.9 * following - values[step, agent])
                weight *= 0.9 * 0.8
                if not stays:
                    break
            np.testing.assert_allclose(found[moment, agent], expected, atol=1e-5)


def test_what_a_slots_next_agent_does_is_not_to_the_credit_of_the_one_before():
    rewards, values = random_team(0, STEPS), random_team(1, STEPS + 1, 3)
    before, after = np.s_[:3, 1], np.s_[5:, 1]
    found = advantages_with_departures(rewards, values)
    # Alone the newcomer's own values change: nobody else leaves then, who would expect what it does.
    other = advantages_with_departures(rewards, values.at[6, 1].add(5.0).at[6, 0].add(-5.0))
    assert (found[after] != other[after]).all()
    np.testing.assert_array_equal(found[before], other[before])


def test_nobody_leaving_leaves_all_as_it_was():
    rewards, values = random_team(0, STEPS), random_team(1, STEPS + 1)
    played, terminated = jnp.ones(STEPS, bool), jnp.zeros(STEPS, bool)
    nobody = Departures(jnp.zeros(STEPS, bool), jnp.full(STEPS, jnp.nan))
    found = [
        generalised_advantages(
            *(rewards, values, played, terminated, 0.9, 0.8), horizon_bootstraps=True, departures=departures
        )
        for departures in (None, nobody)
    ]
    np.testing.assert_array_equal(*found)


def test_the_value_scale_undoes_itself_and_whitens_what_it_followed():
    targets = 40 + 7 * random_team(0, 2000)
    scale = ValueScale.fresh().follow(targets, jnp.ones(2000, bool), rate=0.01)
    small = scale.shrink(targets)
    np.testing.assert_allclose([np.mean(small), np.std(small)], [0, 1], atol=1e-2)
    np.testing.assert_allclose(scale.stretch(small), targets, rtol=1e-4)


def test_a_fresh_value_scale_changes_nothing():
    values = random_team(0, 5)
    np.testing.assert_array_equal(ValueScale.fresh().stretch(values), values)
