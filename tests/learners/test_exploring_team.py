"""Exploration: how often, by whom, and that it ends where it should."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.experiment.q_learning_settings import QLearningSettings
from pc3d.experiment.rosters import Curriculum, Stage
from pc3d.learners.exploring_team import epsilon_after, epsilon_of, explored
from pc3d.learners.registry import algorithm_of
from pc3d.play.actor_team import ActorTeam
from pc3d.play.choosing import choose
from pc3d.play.loop import play
from pc3d.play.worlds import TaskWorlds
from pc3d.tasks.spread.world import Spread
from tests.small import small_experiment

SETTINGS = QLearningSettings(exploration_start=0.8, exploration_end=0.2, exploration_steps=1000)


@pytest.mark.parametrize(("steps", "epsilon"), [(0, 0.8), (500, 0.5), (1000, 0.2), (10**9, 0.2)])
def test_exploration_falls_with_the_steps_of_teams_and_not_below_its_floor(steps, epsilon):
    assert float(epsilon_after(SETTINGS, jnp.asarray(steps))) == pytest.approx(epsilon)


@pytest.mark.parametrize(
    ("episode", "epsilon"),
    [(0, 0.1), (29, 0.1), (30, 0.4), (40, 0.2), (48, 0.1), (51, 0.1), (60, 0.4), (90, 0.1)],
)
def test_exploration_is_warmed_again_where_a_stage_begins_and_only_then(episode, epsilon):
    stages = tuple(Stage(share, (1,), (1.0,)) for share in (0.3, 0.3, 0.4))
    settings = replace(
        SETTINGS, exploration_end=0.1, rewarmed_exploration=0.4, rewarmed_episodes=20, update_every_episodes=1
    )
    experiment = small_experiment("vdn", episodes=100, curriculum=Curriculum(stages), algorithm=settings)
    at = (jnp.asarray(episode), jnp.asarray(10**6))
    assert float(epsilon_of(experiment, *at)) == pytest.approx(epsilon)
    cold = replace(experiment, algorithm=replace(settings, rewarmed_exploration=0.0))
    assert float(epsilon_of(cold, *at)) == pytest.approx(0.1)
    assert float(epsilon_of(experiment, at[0], jnp.asarray(0))) == pytest.approx(0.8)  # never lower


def test_a_share_of_epsilon_acts_at_random_and_the_rest_takes_the_best():
    chances = jax.random.uniform(jax.random.key(0), (40_000,))
    utilities = jnp.broadcast_to(jnp.array([0.0, 3.0, 1.0, 2.0]), (40_000, 4))
    actions = np.asarray(explored(utilities, chances, jnp.asarray(0.4), greedy=True))
    shares = np.bincount(actions, minlength=4) / len(actions)
    np.testing.assert_allclose(shares, [0.1, 0.7, 0.1, 0.1], atol=0.01)


def test_a_share_of_epsilon_acts_at_random_and_the_rest_as_likely_as_the_policy_says():
    chances = jax.random.uniform(jax.random.key(0), (40_000,))
    logits = jnp.broadcast_to(jnp.log(jnp.array([0.5, 0.25, 0.15, 0.1])), (40_000, 4))
    actions = np.asarray(explored(logits, chances, jnp.asarray(0.4), greedy=False))
    shares = np.bincount(actions, minlength=4) / len(actions)
    np.testing.assert_allclose(shares, [0.4, 0.25, 0.19, 0.16], atol=0.01)


@pytest.mark.parametrize("chance", [0.0, 0.5, np.float32(1) - np.float32(2**-24)])
def test_without_exploration_an_action_is_the_actors_and_with_nothing_else_every_draw_is_one(chance):
    utilities, draw = jnp.array([[0.0, 2.0, 1.0]]), jnp.array([chance], jnp.float32)
    for greedy in (True, False):
        own = explored(utilities, draw, jnp.asarray(0.0), greedy=greedy)
        assert own == (1 if greedy else choose(utilities, draw)[0])
        assert 0 <= int(explored(utilities, draw, jnp.asarray(1.0), greedy=greedy)[0]) <= 2


def test_agents_explore_in_training_and_are_greedy_afterwards():
    experiment = small_experiment("vdn")
    settings = replace(experiment.algorithm, exploration_start=0.5)
    experiment, task = replace(experiment, algorithm=settings), Spread(3)
    algorithm = algorithm_of(experiment)
    learner = algorithm.fresh(experiment, task)
    keys, sizes = jax.random.split(jax.random.key(0), 8), jnp.full(8, 3)
    teams = (algorithm.team(experiment, learner), ActorTeam(algorithm.policy(learner).actor))
    played = [jax.jit(play, static_argnums=0)(TaskWorlds(task), team, keys, sizes) for team in teams]
    for episodes, agrees in zip(played, (0.6, 1.0), strict=True):
        actor = learner.networks.actor
        said = actor.conditioning(actor.over_episodes(episodes.observations[:, :-1])).logits
        same = np.asarray(jnp.argmax(said, axis=-1) == episodes.actions)
        assert same.mean() == pytest.approx(agrees, abs=0.06)


def test_steps_of_teams_are_counted_as_they_are_played():
    experiment, task = small_experiment("vdn"), Spread(3)
    algorithm = algorithm_of(experiment)
    learner = algorithm.fresh(experiment, task)
    keys = jax.random.split(jax.random.key(0), 4)
    episodes = jax.jit(play, static_argnums=0)(
        TaskWorlds(task), algorithm.team(experiment, learner), keys, jnp.array([1, 2, 3, 3])
    )
    assert int(algorithm.after_play(learner, episodes).team_steps) == 4 * task.horizon
