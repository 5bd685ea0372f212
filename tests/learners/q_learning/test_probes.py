"""Value factorisation solves tiny tasks with known answers, in seconds."""

from functools import partial

import jax
import jax.numpy as jnp
import pytest

from pc3d.experiment.q_learning_settings import QLearningSettings
from pc3d.networks.critics import TeamView
from tests.learners.replayed_probes import EPISODES, trained_with
from tests.probes import ActionReward, ConstantReward, Forbidden, Memory, TeamSize
from tests.small import Q_METHODS, one_of_each_kind

SETTINGS = QLearningSettings(
    learning_rate=5e-3,
    batch_size=32,
    gradient_steps=4,
    update_every_episodes=EPISODES,
    capacity=640,
    target_rate=0.05,
    trace=0.6,
    exploration_end=0.1,
    exploration_steps=1500,
    mixing_width=8,
    hypernetwork_widths=(16,),
)
trained = partial(trained_with, SETTINGS)


@pytest.mark.parametrize("method", one_of_each_kind(Q_METHODS))
def test_a_rewarded_action_is_found(method):
    assert trained(method, ActionReward, updates=12)[1] > 4.9


def test_what_a_mask_forbids_is_never_done_and_the_best_of_the_rest_is_found():
    assert trained("vdn", Forbidden, updates=24)[1] > 3.2


def test_a_bit_is_remembered_over_several_steps():
    assert trained("pc3d-qmix", Memory, updates=30)[1] > 0.95


def test_the_team_size_is_read_off_history():
    """VDN alone: a mixer that knows the size may shut out the one at which first guesses are wrong."""
    assert trained("vdn", TeamSize, updates=30)[1] > 0.95


@pytest.mark.slow
def test_the_value_of_a_constant_reward_is_its_discounted_sum():
    # Of a mixer that knows the team size: rewards are learned per agent.
    learner, _ = trained("pc3d-qmix", ConstantReward, updates=60)
    task = ConstantReward(3)
    observations = task.observe(task.reset(jax.random.key(0), 3))
    actor = learner.networks.actor
    _, said = actor.step(actor.first_memory(3), observations)
    view = TeamView(observations, jnp.ones(3, bool), utilities=jnp.max(said.logits, axis=-1))
    value = float(learner.value_scale.stretch(learner.networks.critic(view)))
    expected = sum(0.99**step for step in range(5)) / 3
    assert value == pytest.approx(expected, rel=0.1)
