"""What a mask forbids has no chance at all, whatever is drawn."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.play.choosing import Choosing, choose
from pc3d.tasks.chance import any_allowed

DRAWS = np.concatenate([np.random.default_rng(0).random(5000, np.float32), [0, 1 - 2**-24]]).astype(
    np.float32
)
ALLOWED = np.array([False, True, False, True, False])
LOGITS = jnp.broadcast_to(jnp.array([9.0, 0.3, 20.0, -0.5, 1.0]), (len(DRAWS), 5))
MASKS = np.broadcast_to(ALLOWED, LOGITS.shape)


@pytest.mark.parametrize("greedy", [False, True])
def test_a_forbidden_action_is_never_taken(greedy):
    actions, likely = choose(LOGITS, jnp.asarray(DRAWS), MASKS, greedy=greedy)
    assert set(np.asarray(actions).tolist()) == ({1} if greedy else {1, 3})
    chances = np.exp([0.3, -0.5]) / np.exp([0.3, -0.5]).sum()
    np.testing.assert_allclose(np.exp(likely), np.where(actions == 1, *chances), rtol=1e-5)


def test_a_draw_above_the_rounded_sum_takes_the_last_allowed_action():
    masks = jnp.arange(5) < 3
    for scale in np.linspace(0.1, 3, 50):
        action, _ = choose(scale * jnp.arange(5.0), jnp.asarray(1 - 2**-24), masks)
        assert int(action) <= 2


def test_masked_entropy_and_gradients_are_those_of_the_allowed_actions_alone():
    def judged(logits, actions, allowed=None):
        distribution = Choosing().distribution(logits, allowed)
        return jnp.stack([distribution.log_probability(actions), distribution.entropy()])

    few, many = jnp.array([0.3, -0.5]), LOGITS[0]
    expected, found = judged(few, jnp.asarray(1)), judged(many, jnp.asarray(3), ALLOWED)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    slopes = jax.jacobian(judged)(many, jnp.asarray(3), ALLOWED)
    np.testing.assert_array_equal(slopes[:, ~ALLOWED], 0)
    np.testing.assert_allclose(slopes[:, ALLOWED], jax.jacobian(judged)(few, jnp.asarray(1)), rtol=1e-4)


def test_any_allowed_action_is_as_likely_as_another():
    actions = any_allowed(MASKS, DRAWS)
    values, counts = np.unique(actions, return_counts=True)
    assert values.tolist() == [1, 3]
    assert abs(counts[0] - counts[1]) < 300
