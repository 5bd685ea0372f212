"""How much the members of a team are in each other's way: collisions and waits, per agent and step."""

import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from pc3d.evaluation.again import seen_again
from pc3d.play.episode import Episode
from pc3d.play.scores import SizeScores, scores_of
from pc3d.tasks.task import AnyTask, Game, Task

HINDERED = "hindered"  # what this measure is called in tables of scores


def scores_and_hindrance(
    game: Game, episodes: Episode, beside: tuple[Key[Array, " episode"], Int[Array, ""]]
) -> SizeScores:
    """Returns and measures, and in which share of their steps agents were hindered by others."""
    scores = scores_of(game, episodes, beside)
    assert isinstance(game, Task), "worlds on the host have no states to look at"
    return SizeScores(scores.returns, {**scores.measures, HINDERED: _hindered(game, beside[0], episodes)})


def _hindered(task: AnyTask, keys: Key[Array, " episode"], episodes: Episode) -> Float[Array, " episode"]:
    hindered = seen_again(task, keys, episodes.team_size, episodes.actions, task.hindered)
    played = jnp.asarray(episodes.played).T
    counts = jnp.where(played, jnp.sum(hindered, axis=2), 0)
    return jnp.sum(counts, axis=0) / (jnp.sum(played, axis=0) * episodes.team_size)
