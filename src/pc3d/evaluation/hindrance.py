"""How much the members of a team are in each other's way: collisions and waits, per agent and step."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from pc3d.play.episode import Episode, draws_of
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
    """The episodes' actions are played once more, because an episode does not keep its states."""
    draws = draws_of(task, keys)
    start = jax.vmap(task.reset)(draws.start, jnp.asarray(episodes.team_size))

    def step(state: Any, drawn: tuple[Key[Array, " episode"], Array, Array]) -> tuple[Any, Array]:
        step_keys, actions, played = drawn
        following, _ = jax.vmap(task.step)(step_keys, state, actions)
        hindered = jax.vmap(task.hindered)(state, actions, following)
        return following, jnp.where(played, jnp.sum(hindered, axis=1), 0)

    actions, played = jnp.moveaxis(jnp.asarray(episodes.actions), 1, 0), jnp.asarray(episodes.played).T
    _, counts = jax.lax.scan(step, start, (draws.steps, actions, played))
    return jnp.sum(counts, axis=0) / (jnp.sum(played, axis=0) * episodes.team_size)
