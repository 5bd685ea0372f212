"""Actions with a slope: what is done, how likely, and how it moves with the logits."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.learners.actor_critic.sampling import best, gumbel_noise, sampled, straight_through
from tests import off_policy_equations as equations
from tests.runs.made_up_rounds import made_round
from tests.small import random_team

ACTIONS = 5


def some_noise(key, *shape):
    return jax.random.gumbel(jax.random.key(key), shape)


@pytest.mark.parametrize("softness", [0.5, 1.0, 2.0])
def test_an_action_with_a_slope_is_a_draw_with_the_slope_of_its_softmax(softness):
    logits, noise = 2 * random_team(0, 7, ACTIONS), some_noise(1, 7, ACTIONS)
    made = straight_through(logits, noise, softness)
    slopes = jax.jacobian(lambda row, extra: straight_through(row, extra, softness))
    for row, extra, action in zip(logits, noise, made, strict=True):
        chosen = equations.chosen_by(row, np.asarray(extra))
        np.testing.assert_allclose(action, equations.deed_of(chosen, ACTIONS), atol=1e-6)
        expected = equations.straight_through_slopes(row, np.asarray(extra), softness)
        np.testing.assert_allclose(slopes(row, extra), expected, atol=1e-5)


def test_draws_are_as_likely_as_the_policy_says_and_the_best_is_the_likeliest():
    chances = jnp.array([0.5, 0.25, 0.15, 0.07, 0.03])
    drawn = sampled(jnp.log(chances), some_noise(0, 40_000, ACTIONS))
    np.testing.assert_allclose(jnp.mean(drawn, axis=0), chances, atol=0.01)
    np.testing.assert_array_equal(best(jnp.log(chances)), [1, 0, 0, 0, 0])
    assert float(jnp.max(jnp.abs(jnp.sum(drawn, axis=-1) - 1))) == 0


def test_wider_padding_changes_no_draw():
    narrow, wide = (made_round(1, count=2, agents=agents) for agents in (2, 4))
    key = jax.random.key(0)
    np.testing.assert_array_equal(
        gumbel_noise(key, narrow, ACTIONS), gumbel_noise(key, wide, ACTIONS)[:, :, :2]
    )
    other = replace(narrow, observations=narrow.observations + 1)
    np.testing.assert_array_equal(gumbel_noise(key, narrow, ACTIONS), gumbel_noise(key, other, ACTIONS))
