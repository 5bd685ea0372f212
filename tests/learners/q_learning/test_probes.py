"""Value factorisation solves tiny tasks with known answers, in seconds."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.experiment.q_learning_settings import QLearningSettings
from pc3d.learners.registry import algorithm_of
from pc3d.learners.replay import Replay
from pc3d.learners.round import EpisodeBatch, play_and_learn_again
from pc3d.networks.critics import TeamView
from pc3d.play.actor_team import ActorTeam
from pc3d.play.arena import CompiledArena
from pc3d.play.scores import returns_by_size
from tests.probes import ActionReward, ConstantReward, Forbidden, Memory, Probe, TeamSize, probe_experiment
from tests.small import Q_METHODS

EPISODES = 32  # of an update
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


def trained(method: str, probe: type[Probe], updates: int):
    """The learner after training, and the mean return of its greedy policy at the worse of two sizes."""
    experiment, arena = (
        replace(probe_experiment(method, updates), algorithm=SETTINGS),
        CompiledArena(probe(3)),
    )
    algorithm, replay = algorithm_of(experiment), Replay(SETTINGS.replay)
    learner = algorithm.fresh(experiment, arena.game)
    for update in range(updates):
        numbers = experiment.episodes_of_update(update)
        sizes = np.array([experiment.team_size_of(number) for number in numbers])
        batch = EpisodeBatch.of(0, numbers, sizes)
        learner, _ = play_and_learn_again(experiment, arena, learner, batch, replay, 0)
    returns = returns_by_size(arena, ActorTeam(algorithm.policy(learner).actor), (1, 3), 32)
    return learner, min(float(np.mean(of_size)) for of_size in returns.values())


@pytest.mark.parametrize("method", Q_METHODS)
def test_a_rewarded_action_is_found(method):
    assert trained(method, ActionReward, updates=12)[1] > 4.9


def test_what_a_mask_forbids_is_never_done_and_the_best_of_the_rest_is_found():
    assert trained("vdn", Forbidden, updates=16)[1] > 3.2


def test_a_bit_is_remembered_over_several_steps():
    assert trained("pc3d-qmix", Memory, updates=30)[1] > 0.95


def test_the_team_size_is_read_off_history():
    """VDN alone: a mixer that knows the size may shut out the one at which first guesses are wrong."""
    assert trained("vdn", TeamSize, updates=30)[1] > 0.95


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
