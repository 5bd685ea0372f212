"""Moment by moment on the host, the same episodes are played as in one program, whatever the team sizes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.experiment.execution import ALONE
from pc3d.learners.ppo.preparation import prepare
from pc3d.learners.ppo.sequences import SequencePlan
from pc3d.learners.registry import algorithm_of
from pc3d.play.actor_team import ActorTeam
from pc3d.play.hosted.crew import Crew, Hosting, Source
from pc3d.play.hosted.worlds import CrewWorlds
from pc3d.play.loop import play, play_on_host
from pc3d.play.opening import open_arena
from pc3d.play.team import Decision
from pc3d.play.worlds import TaskWorlds
from pc3d.tasks.described import DescribedTask
from tests.evaluation.policies import small_policy
from tests.play.hosted.sample_task import STEPS, Meeting
from tests.play.hosted.tiny import own_world

SIZES = np.array([2, 4, 3, 4])


@pytest.fixture(scope="module")
def game():
    """LBF in a world four agents wide."""
    return small_policy("lbf").task.with_slots(4)


@pytest.fixture(scope="module")
def team():
    return ActorTeam(small_policy("lbf").actor, keeps=True)


@pytest.fixture(scope="module")
def keys():
    return jax.random.split(jax.random.key(3), len(SIZES))


@pytest.fixture(scope="module")
def compiled(game, team, keys):
    return jax.device_get(jax.jit(play, static_argnums=0)(TaskWorlds(game), team, keys, SIZES))


@pytest.fixture(scope="module", params=["our worlds", "the original package"])
def hosted(request, game, team, keys):
    """The same four episodes, by the loop on the host."""
    if request.param == "our worlds":
        return play_on_host(TaskWorlds(game), team, keys, SIZES)
    with open_arena(small_policy("lbf").experiment, hosting=Hosting(2), original=True) as arena:
        return play_on_host(arena.with_slots(game.slots).worlds(), team, keys, SIZES)


def decisions_of(episodes):
    return episodes.present[:, :-1] & episodes.played[:, :, None]


@pytest.mark.parametrize("name", ["team_size", "present", "played", "terminated"])
def test_who_played_and_for_how_long_is_the_same(compiled, hosted, name):
    np.testing.assert_array_equal(getattr(hosted, name), getattr(compiled, name))
    assert getattr(hosted, name).dtype == getattr(compiled, name).dtype


def test_decisions_views_and_rewards_are_the_same_while_an_episode_lasts(compiled, hosted):
    decisions = decisions_of(compiled)
    np.testing.assert_array_equal(hosted.actions[decisions], compiled.actions[decisions])
    np.testing.assert_array_equal(
        hosted.observations[:, :-1][decisions], compiled.observations[:, :-1][decisions]
    )
    np.testing.assert_allclose(hosted.rewards, compiled.rewards, rtol=1e-6)
    np.testing.assert_allclose(hosted.total_reward, compiled.total_reward, rtol=1e-6)
    for name, values in compiled.measures.items():
        np.testing.assert_allclose(hosted.measures[name], values, rtol=1e-6)


def test_what_is_not_kept_on_the_host_is_worked_out_by_the_learner(compiled, hosted, game, team):
    assert hosted.kept is None
    experiment = small_policy("lbf").experiment
    learner = algorithm_of(experiment).fresh(experiment, game)
    learner = eqx.tree_at(lambda learner: learner.networks.actor, learner, team.actor)
    plan = SequencePlan.make(experiment, len(SIZES), game.horizon)
    given = jax.tree.map(jnp.asarray, hosted)
    likely = np.asarray(prepare(experiment, game, learner, given, plan).sequences.log_probabilities)
    decisions = decisions_of(compiled)
    np.testing.assert_allclose(likely[decisions], compiled.kept["log_probability"][decisions], atol=1e-5)


def test_slots_that_nobody_fills_stay_empty(hosted):
    assert not hosted.observations[0, :, 2:].any()


class FirstActionTeam:
    execution = ALONE

    def first(self, episodes, slots):
        return None

    def step(self, memory, view, chances):
        return memory, Decision(np.zeros(chances.shape, np.int32))


def described(**changes):
    return DescribedTask(**vars(own_world(**changes)), slots=3, name="meeting")


def test_a_limit_shorter_than_the_environments_own_cuts_the_episode():
    game = described(horizon=STEPS - 2)
    episode = play_sample(game)
    assert episode.rewards.shape == (2, STEPS - 2)
    assert episode.played.all()
    assert not episode.terminated.any()


def test_after_an_early_end_nothing_counts_and_the_last_views_stay():
    episode = play_sample(described(horizon=STEPS + 3))
    assert episode.played.sum() == 2 * STEPS
    assert not episode.rewards[:, STEPS:].any()
    np.testing.assert_array_equal(episode.observations[:, STEPS], episode.observations[:, -1])


def test_the_teams_reward_is_the_mean_of_its_agents_rewards():
    episode = play_sample(described(), "OwnRewards")
    distances = np.abs(episode.observations[:, 1:, :, 1])
    expected = distances.sum(axis=-1) / episode.team_size[:, None]
    np.testing.assert_allclose(episode.rewards, -expected, rtol=1e-5)


def play_sample(game, name="make"):
    keys = jax.random.split(jax.random.key(0), 2)
    with Crew(Source("own", f"{Meeting.__module__}:{name}")) as crew:
        return play_on_host(CrewWorlds(crew, game), FirstActionTeam(), keys, np.array([3, 2]))
