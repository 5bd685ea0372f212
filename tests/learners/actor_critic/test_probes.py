"""Off-policy actor–critics solve tiny tasks with known answers, in seconds."""

from functools import lru_cache

import jax
import jax.numpy as jnp
import pytest

from pc3d.experiment.actor_critic_settings import MaddpgSettings, MasacSettings, Matd3Settings
from pc3d.experiment.methods import METHODS
from pc3d.networks.action_critics import each_of
from pc3d.networks.critics import TeamView
from tests.learners.replayed_probes import EPISODES, trained_with
from tests.probes import ActionReward, ConstantReward, Memory, TeamSize
from tests.small import OFF_POLICY_METHODS

SHARED = {
    "learning_rate": 5e-3,
    "batch_size": 32,
    "gradient_steps": 4,
    "update_every_episodes": EPISODES,
    "capacity": 640,
    "target_rate": 0.05,
    "trace": 0.6,
}
EXPLORING = {"exploration_end": 0.1, "exploration_steps": 1500}
SETTINGS = {
    MaddpgSettings: MaddpgSettings(**SHARED, **EXPLORING),
    Matd3Settings: Matd3Settings(**SHARED, **EXPLORING),
    MasacSettings: MasacSettings(**SHARED, target_entropy=0.1, temperature_rate=0.05),
}


@lru_cache
def trained(method, probe, updates):
    return trained_with(SETTINGS[METHODS[method].algorithm], method, probe, updates)


@pytest.mark.parametrize("method", OFF_POLICY_METHODS)
def test_a_rewarded_action_is_found(method):
    assert trained(method, ActionReward, updates=20)[1] > 4.7


@pytest.mark.parametrize("method", ["pc3d-maddpg", "pc3d-masac"])
def test_a_bit_is_remembered_over_several_steps(method):
    assert trained(method, Memory, updates=40)[1] > 0.9


@pytest.mark.parametrize("method", ["matd3", "masac"])
def test_the_team_size_is_read_off_history(method):
    assert trained(method, TeamSize, updates=40)[1] > 0.9


def test_the_value_of_a_constant_reward_is_its_discounted_sum():
    learner, _ = trained("pc3d-maddpg", ConstantReward, updates=60)
    task = ConstantReward(3)
    observations = task.observe(task.reset(jax.random.key(0), 3))
    view = TeamView(observations, jnp.ones(3, bool), actions=jax.nn.one_hot(jnp.array([0, 1, 0]), 2))
    value = float(learner.value_scale.stretch(each_of(learner.networks.critic)[0](view)))
    expected = sum(0.99**step for step in range(5)) / 3  # the reward is learned per agent
    assert value == pytest.approx(expected, rel=0.1)
