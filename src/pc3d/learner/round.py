"""One round of training: play some episodes side by side, then learn from them."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from pc3d.hosted.crew import Crew
from pc3d.learner.update import Learner, UpdateReport, learn
from pc3d.lockstep import ActorTeam, on_host, play_in_lockstep, with_log_probabilities
from pc3d.randomness import Purpose, stream
from pc3d.rollout import Episode, play
from pc3d.settings import Experiment
from pc3d.tasks.task import AnyTask, Game


class EpisodeBatch(eqx.Module):
    """Which episodes an update learns from: all that is random in them follows from seed and number."""

    seed: Int[Array, ""]
    numbers: Int[Array, " episode"]
    team_sizes: Int[Array, " episode"]

    @classmethod
    def of(cls, seed: int, numbers: range, team_sizes: np.ndarray) -> "EpisodeBatch":
        return cls(jnp.asarray(seed), jnp.arange(numbers.start, numbers.stop), jnp.asarray(team_sizes))


class Round(UpdateReport):
    """One update and the episodes before it."""

    returns: Float[Array, " episode"]


@partial(jax.jit, static_argnums=(0, 1))
def play_and_learn(
    experiment: Experiment, task: AnyTask, learner: Learner, batch: EpisodeBatch
) -> tuple[Learner, Round]:
    """Play these episodes side by side and learn from them: the whole of one update, compiled."""
    played = play_episodes(experiment, task, learner, batch)
    return _learn_from(experiment, task, learner, batch.seed, played)


def play_on_host_and_learn(
    experiment: Experiment, task: Game, crew: Crew, learner: Learner, batch: EpisodeBatch
) -> tuple[Learner, Round]:
    """The same update with worlds on the host: only choosing actions and learning are compiled."""
    team = ActorTeam(learner.networks.actor)
    sizes = np.asarray(batch.team_sizes)
    played = play_in_lockstep(task, _episode_keys(batch), sizes, on_host(crew), team)
    return _learn_from_host(experiment, task, learner, batch.seed, played)


def play_episodes(experiment: Experiment, task: AnyTask, learner: Learner, batch: EpisodeBatch) -> Episode:
    """These episodes, side by side, each with its own team size."""
    actor, with_state = learner.networks.actor, experiment.critic.global_state

    def play_one(number: Array, team_size: Array) -> Episode:
        key = stream(batch.seed, Purpose.PLAY, number)
        return play(task, actor, key, team_size, with_global_state=with_state)

    return jax.vmap(play_one)(batch.numbers, batch.team_sizes)


@jax.jit
def _episode_keys(batch: EpisodeBatch) -> PRNGKeyArray:
    return jax.vmap(partial(stream, batch.seed, Purpose.PLAY))(batch.numbers)


def _learn_from(
    experiment: Experiment, task: Game, learner: Learner, seed: Int[Array, ""], played: Episode
) -> tuple[Learner, Round]:
    shuffle_key = stream(seed, Purpose.SHUFFLE, learner.update)
    learner, report = learn(experiment, learner, played, shuffle_key)
    returns = jax.vmap(task.reported_return)(played.total_reward, played.team_size)
    return learner, Round(**vars(report), returns=returns)


@partial(jax.jit, static_argnums=(0, 1))
def _learn_from_host(
    experiment: Experiment, task: Game, learner: Learner, seed: Int[Array, ""], played: Episode
) -> tuple[Learner, Round]:
    played = with_log_probabilities(learner.networks.actor, played)
    return _learn_from(experiment, task, learner, seed, played)
