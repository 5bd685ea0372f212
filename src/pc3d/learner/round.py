"""One round of training, compiled as a whole: play some episodes side by side, then learn from them."""

from functools import partial

import jax
from jaxtyping import Array, Float, Int

from pc3d.learner.update import Learner, UpdateReport, learn
from pc3d.randomness import Purpose, stream
from pc3d.rollout import Episode, play
from pc3d.settings import Experiment
from pc3d.tasks.task import AnyTask


class Round(UpdateReport):
    """One update and the episodes before it."""

    returns: Float[Array, " episode"]


@partial(jax.jit, static_argnums=(0, 1))
def play_and_learn(
    experiment: Experiment,
    task: AnyTask,
    learner: Learner,
    seed: Int[Array, ""],
    episodes: Int[Array, " episode"],
    team_sizes: Int[Array, " episode"],
) -> tuple[Learner, Round]:
    """Play these episodes side by side and learn from them: the whole of one update, compiled."""
    played = play_episodes(experiment, task, learner, seed, episodes, team_sizes)
    shuffle_key = stream(seed, Purpose.SHUFFLE, learner.update)
    learner, report = learn(experiment, learner, played, shuffle_key)
    returns = jax.vmap(task.reported_return)(played.total_reward, team_sizes)
    return learner, Round(**vars(report), returns=returns)


def play_episodes(
    experiment: Experiment,
    task: AnyTask,
    learner: Learner,
    seed: Int[Array, ""],
    episodes: Int[Array, " episode"],
    team_sizes: Int[Array, " episode"],
) -> Episode:
    """The episodes of these numbers, side by side, each with its own team size."""
    actor, with_state = learner.networks.actor, experiment.critic.global_state

    def play_one(number: Array, team_size: Array) -> Episode:
        key = stream(seed, Purpose.PLAY, number)
        return play(task, actor, key, team_size, with_global_state=with_state)

    return jax.vmap(play_one)(episodes, team_sizes)
