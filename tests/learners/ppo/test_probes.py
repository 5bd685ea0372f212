"""Learning solves tiny tasks with known answers, in seconds."""

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.experiment.methods import METHODS
from pc3d.learners.registry import algorithm_of
from pc3d.learners.round import EpisodeBatch, play_and_learn
from pc3d.networks.critics import TeamView
from pc3d.play.actor_team import ActorTeam
from pc3d.play.arena import CompiledArena
from pc3d.play.scores import returns_by_size
from tests.probes import (
    ActionReward,
    Aim,
    ConstantReward,
    Forbidden,
    Memory,
    Probe,
    TeamSize,
    probe_experiment,
)
from tests.small import PPO_METHODS, one_of_each_kind

UPDATES = 80
# In the probes nobody sees anybody, so nobody hears anybody.
ALONE = [name for name in PPO_METHODS if METHODS[name].execution.decentralized]
# Numbers are drawn and valued alike whatever learns; the others are for make test-slow.
IN_NUMBERS = [name if name == "pc3d" else pytest.param(name, marks=pytest.mark.slow) for name in ALONE]


@lru_cache
def trained(method: str, probe: type[Probe]):
    """The learner after training, and the mean return of its last ten updates."""
    experiment, arena = probe_experiment(method, UPDATES), CompiledArena(probe(3))
    learner, late_returns = algorithm_of(experiment).fresh(experiment, arena.game), []
    for update in range(UPDATES):
        numbers = experiment.episodes_of_update(update)
        sizes = [experiment.curriculum.team_size(0, number, experiment.episodes) for number in numbers]
        batch = EpisodeBatch.of(0, numbers, np.array(sizes))
        learner, report = play_and_learn(experiment, arena, learner, batch)
        late_returns += [np.mean(report.returns)] if update >= UPDATES - 10 else []
    return learner, float(np.mean(late_returns))


@pytest.mark.parametrize("method", one_of_each_kind(["mappo", "pc3d"]))
def test_the_value_of_a_constant_reward_is_its_discounted_sum(method):
    learner, _ = trained(method, ConstantReward)
    task = ConstantReward(3)
    observations = task.observe(task.reset(jax.random.key(0), 3))
    view = TeamView(observations, jnp.ones(3, bool))
    value = float(learner.value_scale.stretch(learner.networks.critic(view)))
    expected = sum(0.99**step for step in range(5)) / 3  # the reward is learned per agent
    assert value == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("method", one_of_each_kind(ALONE))
def test_a_rewarded_action_is_found(method):
    assert trained(method, ActionReward)[1] > 4.7


@pytest.mark.parametrize("method", one_of_each_kind(["mappo", "pc3d"]))
def test_a_bit_is_remembered_over_several_steps(method):
    assert trained(method, Memory)[1] > 0.9


@pytest.mark.parametrize("method", one_of_each_kind(["mappo", "pc3d"]))
def test_the_team_size_is_read_off_history(method):
    assert trained(method, TeamSize)[1] > 0.9


@pytest.mark.parametrize("method", IN_NUMBERS)
def test_a_real_number_is_found(method):
    learner, late = trained(method, Aim)
    assert late > -2.0  # drawn, with what is left of the deviation
    greedy = ActorTeam(learner.networks.actor, greedy=True)
    for returns in returns_by_size(CompiledArena(Aim(3)), greedy, (1, 3), 16).values():
        assert np.mean(returns) > -0.3


@pytest.mark.parametrize("method", one_of_each_kind(["pc3d", "happo"]))
def test_what_a_mask_forbids_is_never_done_and_the_best_of_the_rest_is_found(method):
    learner, late = trained(method, Forbidden)
    assert late > 3.5  # of 3.75; a single forbidden action would cost more than all
    sampled = ActorTeam(learner.networks.actor)
    for returns in returns_by_size(CompiledArena(Forbidden(3)), sampled, (1, 3), 16).values():
        assert np.min(returns) > 1.0
