"""COPA's coach and who listens to it: their equations a second time, and what must hold of any team."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.networks.build import build
from pc3d.networks.coach import surprise
from pc3d.networks.normal import Normal
from pc3d.tasks.spread.world import Spread
from tests import coach_equations as equations
from tests.networks.test_entity_attention import TEAM, packed, team
from tests.small import random_team, small_experiment

TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def networks():
    made = build(jax.random.key(0), small_experiment("copa"), Spread(10))
    # Small gains would hide mistakes.
    return jax.tree.map(lambda leaf: leaf * 2 - 0.05, made)


def advised(networks, features, numbers, present):
    advice = networks.critic.coach.advice(packed(features, numbers), present)
    return np.asarray(advice.mean), np.asarray(advice.log_variance)


def test_what_a_coach_says_is_its_equation(networks):
    features, numbers, _, present = team()
    there = np.asarray(features, np.float64)[np.asarray(numbers) != 0]
    for made, expected in zip(
        zip(*advised(networks, features, numbers, present), strict=True),
        [equations.advice(networks.critic.coach, own, there) for own in there[:TEAM]],
        strict=False,
    ):
        np.testing.assert_allclose(made, expected, rtol=TOLERANCE, atol=TOLERANCE)


def test_neither_padding_nor_an_order_changes_what_anybody_is_told(networks):
    features, numbers, _, present = team()
    usual = [part[:TEAM] for part in advised(networks, features, numbers, present)]
    for slots, spare in ((3, 0), (8, 0), (5, 6)):
        wider, their_numbers, _, here = team(slots=slots, spare=spare)
        for one, other in zip(usual, advised(networks, wider, their_numbers, here), strict=True):
            np.testing.assert_allclose(one, other[:TEAM], rtol=TOLERANCE, atol=TOLERANCE)
    for garbage in (1e30, jnp.nan):
        dirty = jnp.where(numbers[:, None] == 0, garbage, features)
        for one, other in zip(usual, advised(networks, dirty, numbers, present), strict=True):
            np.testing.assert_array_equal(one, other[:TEAM])
    moved = jnp.array([2, 0, 1, 3, 4, 8, 6, 5, 7])
    for one, other in zip(usual, advised(networks, features[moved], numbers[moved], present), strict=True):
        np.testing.assert_allclose(one[[2, 0, 1]], other[:TEAM], rtol=TOLERANCE, atol=TOLERANCE)


def test_who_listens_says_what_its_equation_says_and_what_was_told_matters(networks):
    actor = networks.actor
    remembered, told = random_team(3, 10), random_team(4, 4)
    made = actor.says_told(remembered, told).logits
    expected = equations.says(actor, np.asarray(remembered, float), np.asarray(told, float))
    np.testing.assert_allclose(made, expected, rtol=TOLERANCE, atol=TOLERANCE)
    np.testing.assert_array_equal(
        actor.says(remembered).logits, actor.says_told(remembered, jnp.zeros(4)).logits
    )
    assert not np.allclose(made, actor.says(remembered).logits)


def test_what_is_recognised_is_its_equation_and_counts_within_bounds(networks):
    features, numbers, _, _ = team()
    there = np.asarray(features, np.float64)[np.asarray(numbers) != 0]
    remembered, told = random_team(5, TEAM, 10), 0.3 * random_team(6, TEAM, 4)
    actions = jnp.array([0, 4, 2])
    found = networks.critic.recognised(remembered, jax.nn.one_hot(actions, 5), packed(features, numbers))
    for agent in range(TEAM):
        known = np.asarray(remembered[agent], float), int(actions[agent])
        expected = equations.surprise(
            *(networks.critic, *known, 5, there[agent], there), np.asarray(told[agent], float)
        )
        made = surprise(jax.tree.map(lambda part, at=agent: part[at], found), told[agent])
        np.testing.assert_allclose(made, expected, rtol=TOLERANCE, atol=TOLERANCE)
    sure = Normal(jnp.zeros(4), jnp.full(4, -10.0))
    assert float(surprise(sure, jnp.full(4, 50.0))) == 1000
    assert float(surprise(sure, jnp.zeros(4))) == 0


def test_bounds_of_the_spread_are_the_originals():
    made = Normal.bounded(jnp.zeros(3), jnp.array([-20.0, -1.0, 3.0]))
    assert made.log_variance.tolist() == [-10, -1, 0]
    assert float(made.drawn(jnp.ones(3))[2]) == 1
