"""The squashed normal distribution is what it should be: held against NumPy in 64 bits, and integrals."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import kstest, norm

from pc3d.experiment.action_space import Box
from pc3d.networks.squashing import Squashing, normal_numbers

BOX = Box(("x", "y"), (-1.0, 2.0), (1.0, 10.0))
MEANS = [(0.0, 0.0), (1.5, -0.7), (-3.0, 2.0)]
DEVIATIONS = (0.4, 1.3)


def squashing(deviations=DEVIATIONS, box=BOX):
    return Squashing(jnp.log(jnp.asarray(deviations)), box)


def density(action, mean, deviation, low, high):
    """Of one number, by the change of variables, in 64 bits."""
    half = (high - low) / 2
    share = (np.asarray(action, np.float64) - (low + high) / 2) / half
    return norm.pdf(np.arctanh(share), mean, deviation) / (half * (1 - share**2))


def inside(low, high, count=200_001):
    """Points between the bounds, closer to each other near them."""
    return (low + high) / 2 + (high - low) / 2 * np.tanh(np.linspace(-12, 12, count))


@pytest.mark.parametrize("means", MEANS)
def test_the_log_density_is_the_references(means):
    random = np.random.default_rng(0)
    actions = np.stack([random.uniform(-0.999, 0.999, 50), random.uniform(2.01, 9.99, 50)], axis=-1)
    expected = sum(
        np.log(density(actions[:, at], means[at], DEVIATIONS[at], BOX.low[at], BOX.high[at])) for at in (0, 1)
    )
    rows = jnp.broadcast_to(jnp.asarray(means), actions.shape)
    found = squashing().distribution(rows).log_probability(jnp.asarray(actions, jnp.float32))
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("mean", [0.0, 1.5, -2.5])
def test_the_density_integrates_to_one_and_its_entropy_is_the_integrals(mean):
    low, high, deviation = -2.0, 4.0, 0.8
    points = inside(low, high)[1:-1]
    points = points[(points > low) & (points < high)]
    likely = density(points, mean, deviation, low, high)
    assert np.trapezoid(likely, points) == pytest.approx(1, abs=1e-4)  # the reference is a density
    one = squashing((deviation,), Box(("x",), (low,), (high,)))
    distribution = one.distribution(jnp.full((1, 1), mean))
    found, entropy = distribution.log_probability(jnp.full((1, 1), 1.0)), distribution.entropy()
    assert np.exp(found[0]) == pytest.approx(density(1.0, mean, deviation, low, high), rel=1e-4)
    surprise = np.where(likely > 0, -likely * np.log(np.maximum(likely, 1e-300)), 0)
    assert float(entropy[0]) == pytest.approx(np.trapezoid(surprise, points), abs=2e-3)


def test_draws_have_the_distribution():
    chances = np.random.default_rng(1).random((20_000, 1), np.float32)
    one = squashing((0.8,), Box(("x",), (-2.0,), (4.0,)))
    actions, likely = one.decide(jnp.full((20_000, 1), 0.6), jnp.asarray(chances))
    shares = (np.asarray(actions[:, 0], np.float64) - 1) / 3
    assert kstest(np.arctanh(shares), norm(0.6, 0.8).cdf).pvalue > 0.01
    np.testing.assert_allclose(likely, np.log(density(actions[:, 0], 0.6, 0.8, -2, 4)), atol=1e-3)


@pytest.mark.parametrize("mean", [-1e4, -30.0, 8.0, 1e4])
def test_numbers_on_the_bounds_are_safe_to_learn_from(mean):
    def loss(policy, means):
        actions, likely = policy.decide(means, jnp.full(means.shape, 0.999))
        distribution = policy.distribution(means)
        again = distribution.log_probability(jax.lax.stop_gradient(actions))
        return jnp.sum(again + distribution.entropy()), (actions, likely - again)

    means = jnp.full((1, 2), mean)
    gradients, (actions, apart) = jax.grad(loss, argnums=(0, 1), has_aux=True)(squashing(), means)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradients))
    assert np.all((np.array(BOX.low) <= actions) & (actions <= np.array(BOX.high)))
    np.testing.assert_array_equal(apart, 0)  # a ratio of PPO begins with 1, on the bounds, too


def test_greedy_actions_are_the_squashed_means():
    means = jnp.asarray(MEANS)
    actions, _ = squashing().decide(means, jnp.full(means.shape, 0.9), greedy=True)
    expected = np.array([0.0, 6.0]) + np.array([1.0, 4.0]) * np.tanh(MEANS)
    np.testing.assert_allclose(actions, expected, rtol=1e-5)


def test_every_uniform_draw_has_a_normal_number():
    ends = np.array([0, 2**-24, 0.5, 1 - 2**-23, 1 - 2**-24], np.float32)
    numbers = np.asarray(normal_numbers(ends))
    assert np.isfinite(numbers).all()
    assert np.all(np.diff(numbers) >= 0)
    assert numbers[2] == pytest.approx(0, abs=1e-6)


def test_a_wider_deviation_is_not_always_rewarded_by_the_entropy():
    means = jnp.zeros((1, 2))
    entropies = [float(squashing((wide, wide)).distribution(means).entropy()[0]) for wide in (0.2, 0.9, 3.0)]
    assert entropies[1] > entropies[0]
    assert entropies[1] > entropies[2]  # most of it lies on the bounds then
