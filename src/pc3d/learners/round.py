"""One round of training: play some episodes side by side, then learn from them."""

from __future__ import annotations

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from pc3d.experiment.experiment import Experiment
from pc3d.learners.algorithm import Learner, Lesson
from pc3d.learners.registry import algorithm_of
from pc3d.learners.replay import Replay
from pc3d.play.arena import Arena
from pc3d.play.episode import Episode
from pc3d.play.loop import play, play_on_host
from pc3d.play.randomness import Purpose, stream
from pc3d.play.worlds import TaskWorlds
from pc3d.tasks.arrays import AnyArray
from pc3d.tasks.task import Game


class EpisodeBatch(eqx.Module):
    """Which episodes are played before an update: all that is random in them follows from seed and number."""

    seed: Int[Array, ""]
    numbers: Int[Array, " episode"]
    team_sizes: Int[Array, " episode"]

    @classmethod
    def of(cls, seed: int, numbers: range, team_sizes: np.ndarray) -> EpisodeBatch:
        return cls(jnp.asarray(seed), jnp.arange(numbers.start, numbers.stop), jnp.asarray(team_sizes))

    @property
    def keys(self) -> Key[Array, " episode"]:
        return jax.vmap(partial(stream, self.seed, Purpose.PLAY))(self.numbers)


class Round(eqx.Module):
    """One update and the episodes before it."""

    lesson: Lesson
    returns: Float[AnyArray, " episode"]
    stuck: Bool[Array, ""] | None = None
    """Whether a mask allowed somebody who had to act nothing; None where there are no masks."""


def play_and_learn(
    experiment: Experiment, arena: Arena, learner: Learner, batch: EpisodeBatch
) -> tuple[Learner, Round]:
    """The whole of one update: in one program, or, with worlds on the host, play and a compiled lesson."""
    worlds = arena.worlds()
    if isinstance(worlds, TaskWorlds):
        return _in_one_program(experiment, worlds, learner, batch)
    played = play_round(experiment, arena, learner, batch)
    return _learn_compiled(experiment, arena.game, learner, batch.seed, played)


def play_and_learn_again(
    experiment: Experiment, arena: Arena, learner: Learner, batch: EpisodeBatch, replay: Replay, seed: int
) -> tuple[Learner, Round]:
    """The same with a replay: the new episodes are added to it, and the update learns from what is drawn."""
    update = int(learner.update)
    played = play_round(experiment, arena, learner, batch)
    replay.add(update + 1, played)
    learner = _noted_compiled(experiment, learner, played)
    drawn = replay.drawn(seed, update)
    wide = arena.game.with_slots(drawn.present.shape[-1])
    learner, report = _learn_compiled(experiment, wide, learner, batch.seed, drawn)
    return learner, Round(report.lesson, _reported(arena.game, played), _stuck(played))


def play_round(experiment: Experiment, arena: Arena, learner: Learner, batch: EpisodeBatch) -> Episode:
    """The episodes alone, wherever their worlds are."""
    worlds = arena.worlds()
    if isinstance(worlds, TaskWorlds):
        return _play_compiled(experiment, worlds, learner, batch)
    team = algorithm_of(experiment).team(experiment, learner)
    return play_on_host(worlds, team, _keys(batch), np.asarray(batch.team_sizes))


def play_episodes(
    experiment: Experiment, worlds: TaskWorlds, learner: Learner, batch: EpisodeBatch
) -> Episode:
    """These episodes, side by side, each with its own team size."""
    team, with_state = algorithm_of(experiment).team(experiment, learner), experiment.keeps_states
    return play(worlds, team, batch.keys, batch.team_sizes, with_global_state=with_state)


def note(experiment: Experiment, learner: Learner, played: Episode) -> Learner:
    """What a learner with a replay wants to know of the episodes that were just played."""
    return algorithm_of(experiment).after_play(learner, played)


def learn_from(
    experiment: Experiment, game: Game, learner: Learner, seed: Int[Array, ""], played: Episode
) -> tuple[Learner, Round]:
    """Learn from episodes that were just played."""
    shuffle_key = stream(seed, Purpose.SHUFFLE, learner.update)
    learner, lesson = algorithm_of(experiment).learn(experiment, game, learner, played, shuffle_key)
    return learner, Round(lesson, _reported(game, played), _stuck(played))


def _reported(game: Game, played: Episode) -> Float[AnyArray, " episode"]:
    return jax.vmap(game.reported_return)(played.total_reward, played.team_size)


def _stuck(played: Episode) -> Bool[Array, ""] | None:
    if played.allowed is None:
        return None
    decisions = played.present[:, :-1] & played.played[:, :, None]
    return jnp.any(decisions & ~jnp.any(played.allowed[:, :-1], axis=-1))


@partial(jax.jit, static_argnums=(0, 1))
def _in_one_program(
    experiment: Experiment, worlds: TaskWorlds, learner: Learner, batch: EpisodeBatch
) -> tuple[Learner, Round]:
    played = play_episodes(experiment, worlds, learner, batch)
    return learn_from(experiment, worlds.game, learner, batch.seed, played)


_learn_compiled = jax.jit(learn_from, static_argnums=(0, 1))
_noted_compiled = jax.jit(note, static_argnums=0)
_play_compiled = jax.jit(play_episodes, static_argnums=(0, 1))


@jax.jit
def _keys(batch: EpisodeBatch) -> Key[Array, " episode"]:
    return batch.keys
