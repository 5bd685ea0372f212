"""Off-policy actor–critics solve tiny tasks with known answers, in seconds."""

import pytest

from pc3d.experiment.actor_critic_settings import MaddpgSettings, MasacSettings, Matd3Settings
from pc3d.experiment.methods import METHODS
from tests.learners.replayed_probes import EPISODES, trained_with
from tests.probes import ActionReward, TeamSize
from tests.small import OFF_POLICY_METHODS, one_of_each_kind

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


def trained(method, probe, updates):
    return trained_with(SETTINGS[METHODS[method].algorithm], method, probe, updates)


@pytest.mark.parametrize("method", one_of_each_kind(OFF_POLICY_METHODS))
def test_a_rewarded_action_is_found(method):
    assert trained(method, ActionReward, updates=30)[1] > 4.7


def test_the_team_size_is_read_off_history():
    assert trained("masac", TeamSize, updates=40)[1] > 0.9
