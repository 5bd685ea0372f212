"""Episodes on the host are the episodes of the compiled rollout, whatever the team sizes side by side."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from pc3d.play.lockstep import ActorTeam, on_host, play_in_lockstep, with_log_probabilities
from pc3d.play.rollout import play

from pc3d.play.hosted.crew import Crew, Hosting, Source
from pc3d.play.hosted.original import OriginalOnHost
from pc3d.play.hosted.parallel import ContractBroken
from pc3d.tasks.described import DescribedTask
from tests.evaluation.policies import small_policy
from tests.play.hosted.sample_task import STEPS, Meeting
from tests.play.hosted.tiny import own_world

SIZES = np.array([2, 4, 3, 4])


@pytest.fixture(scope="module")
def both():
    """The same four LBF episodes, compiled and in the original package, in a world four agents wide."""
    policy, keys = small_policy("lbf"), jax.random.split(jax.random.key(3), len(SIZES))
    task = policy.task.with_slots(4)
    compiled = jax.jit(jax.vmap(lambda key, size: play(task, policy.actor, key, size)))
    with Crew(Source("original", "lbf", ("pairs",)), Hosting(2)) as crew:
        hosted = play_in_lockstep(task, keys, SIZES, on_host(crew), ActorTeam(policy.actor))
    return jax.device_get(compiled(keys, jnp.asarray(SIZES))), with_log_probabilities(policy.actor, hosted)


@pytest.mark.parametrize("name", ["team_size", "active", "played", "terminated"])
def test_who_played_and_for_how_long_is_the_same(both, name):
    compiled, hosted = both
    np.testing.assert_array_equal(getattr(hosted, name), getattr(compiled, name))
    assert getattr(hosted, name).dtype == getattr(compiled, name).dtype


def test_decisions_views_and_rewards_are_the_same_while_an_episode_lasts(both):
    compiled, hosted = both
    decisions = compiled.active[:, None] & compiled.played[:, :, None]
    np.testing.assert_array_equal(hosted.actions[decisions], compiled.actions[decisions])
    likely = np.asarray(hosted.log_probabilities)[decisions]
    np.testing.assert_allclose(likely, compiled.log_probabilities[decisions], atol=1e-5)
    np.testing.assert_array_equal(
        hosted.observations[:, :-1][decisions], compiled.observations[:, :-1][decisions]
    )
    np.testing.assert_allclose(hosted.rewards, compiled.rewards, rtol=1e-6)
    np.testing.assert_allclose(hosted.total_reward, compiled.total_reward, rtol=1e-6)
    for name, values in compiled.measures.items():
        np.testing.assert_allclose(hosted.measures[name], values, rtol=1e-6)


def test_slots_that_nobody_fills_stay_empty(both):
    _, hosted = both
    assert not hosted.observations[0, :, 2:].any()


class FirstActionTeam:
    def act(self, worlds, chances):
        return np.zeros(chances.shape, np.int32)


def test_a_limit_shorter_than_the_environments_own_cuts_the_episode():
    game = DescribedTask(3, "meeting", own_world(horizon=STEPS - 2))
    episode = play_sample(game)
    assert episode.rewards.shape == (2, STEPS - 2)
    assert episode.played.all()
    assert not episode.terminated.any()


def test_after_an_early_end_nothing_counts_and_the_last_views_stay():
    episode = play_sample(DescribedTask(3, "meeting", own_world(horizon=STEPS + 3)))
    assert episode.played.sum() == 2 * STEPS
    assert not episode.rewards[:, STEPS:].any()
    np.testing.assert_array_equal(episode.observations[:, STEPS], episode.observations[:, -1])


def test_the_teams_reward_is_the_mean_of_its_agents_rewards():
    episode = play_sample(DescribedTask(3, "meeting", own_world()), "OwnRewards")
    distances = np.abs(episode.observations[:, 1:, :, 1])
    expected = distances.sum(axis=-1) / episode.team_size[:, None]
    np.testing.assert_allclose(episode.rewards, -expected, rtol=1e-5)


def play_sample(game, name="make"):
    keys = jax.random.split(jax.random.key(0), 2)
    with Crew(Source("own", f"{Meeting.__module__}:{name}")) as crew:
        return play_in_lockstep(game, keys, np.array([3, 2]), on_host(crew), FirstActionTeam())


def test_an_original_with_views_of_another_width_is_refused(monkeypatch):
    world = OriginalOnHost("spread", "pairs", 2)
    monkeypatch.setattr(world.world, "observe", lambda: np.zeros((2, 5)))
    with pytest.raises(ContractBroken, match=r"views of shape \(2, 5\), not \(2, \d+\)"):
        world.begin(np.zeros(2, np.uint32))
