"""Advantages against the definition, at ends and at time limits, and the running scale of values."""

import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.learners.ppo.advantages import generalised_advantages
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


def test_the_value_scale_undoes_itself_and_whitens_what_it_followed():
    targets = 40 + 7 * random_team(0, 2000)
    scale = ValueScale.fresh().follow(targets, jnp.ones(2000, bool), rate=0.01)
    small = scale.shrink(targets)
    np.testing.assert_allclose([np.mean(small), np.std(small)], [0, 1], atol=1e-2)
    np.testing.assert_allclose(scale.stretch(small), targets, rtol=1e-4)


def test_a_fresh_value_scale_changes_nothing():
    values = random_team(0, 5)
    np.testing.assert_array_equal(ValueScale.fresh().stretch(values), values)
