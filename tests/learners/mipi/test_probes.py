"""A game whose best play at a price for information is known by Blahut and Arimoto's fixed points."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.experiment.mipi_settings import MipiSettings
from pc3d.experiment.recipe import Recipe
from pc3d.learners.q_learning.soft_policy import SoftPolicy
from tests.learners.q_learning.test_probes import SETTINGS
from tests.learners.replayed_probes import trained_with
from tests.probes import Rumour

# Values are rewards of single agents as they are, so that the price is in their units.
RECIPE = Recipe(learning_rate_schedule="constant", normalise_values=False, reward_per_agent=False)
OWN = {
    **{"mixer": "mean-utility", "imagined_teams": 0.0},
    **{"reference_learning_rate": 5e-3, "reference_updates": 1},
}
GOOD, BAD = 1.0, -4.0


def blahut_arimoto(cost, turns):
    """The chance of action one, by the cue, and in the reference."""
    p = 0.5
    for _ in range(turns):
        odds = p / (1 - p) * np.exp(np.array([BAD, GOOD]) / cost)
        chances = odds / (1 + odds)
        p = chances.mean()
    return chances, p


def trained(cost, updates, **changes):
    """The chances of action one in the first moment by cue, how many nats that is, and the return."""
    settings = MipiSettings(**vars(SETTINGS), **{**OWN, "information_cost": cost, **changes})
    learner, worst = trained_with(settings, "mipi", Rumour, updates, recipe=RECIPE)
    clock = jax.nn.one_hot(jnp.zeros(2, int), 5)
    views = jnp.concatenate([clock, jnp.array([[-1.0], [1.0]])], axis=-1)
    said = [
        actor.step(actor.first_memory(2), views)[1].logits
        for actor in (learner.values.networks.actor, learner.reference)
    ]
    soft = SoftPolicy.of(*said, learner.cost)
    return np.asarray(soft.chances[:, 1]), float(jnp.mean(soft.information)), worst


def test_who_looks_for_nothing_does_what_is_good():
    chances, nats, worst = trained(0.2, updates=40)
    np.testing.assert_allclose(chances, blahut_arimoto(0.2, 40)[0], atol=0.1)
    assert nats == pytest.approx(np.log(2), abs=0.1)
    assert worst > 1.5  # 2.5 is expected, of cues that are 1 half of the time


def test_who_pays_too_much_for_looking_ignores_its_teammates_and_stays_safe():
    known, reference = blahut_arimoto(3.0, 40)
    assert max(*known, reference) < 0.05
    chances, nats, worst = trained(3.0, updates=40)
    assert max(chances) < 0.12
    assert nats < 0.02
    assert worst > -0.8


def test_where_the_reference_stays_uniform_the_same_price_leaves_the_policy_soft():
    """As in maximum-entropy learning, which never learns to ignore: the reference makes the difference."""
    known, _ = blahut_arimoto(3.0, 1)
    chances, nats, _ = trained(3.0, updates=40, reference_updates=10**6)
    np.testing.assert_allclose(chances, known, atol=0.1)
    assert nats > 0.05
