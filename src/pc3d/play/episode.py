"""Whole episodes as padded and masked records, and all that is random in them."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, Num, PRNGKeyArray, Real

from pc3d.tasks.arrays import AnyArray
from pc3d.tasks.task import Game


class Episode(eqx.Module):
    """Several episodes, side by side. A moment more than steps: what came after the last."""

    team_size: Int[AnyArray, " episode"]
    present: Bool[AnyArray, "episode moment agent"]
    observations: Real[AnyArray, "episode moment agent observation"]  # floats; a replay may hold less
    actions: Num[AnyArray, "episode time agent *number"]
    kept: Any  # of decisions, over (episode, time, agent), in a replay at some times; None from host worlds
    rewards: Float[AnyArray, "episode time"]  # zero after the end
    played: Bool[AnyArray, "episode time"]  # false after the end
    terminated: Bool[AnyArray, "episode time"]  # the step that ended the game
    total_reward: Float[AnyArray, " episode"]
    measures: dict[str, Float[AnyArray, " episode"]]
    global_states: Real[AnyArray, "episode moment state"] | None
    allowed: Bool[AnyArray, "episode moment agent action"] | None = None  # None: everybody may do anything


class Draws(eqx.Module):
    """All that is random in some episodes, whoever plays them and in whichever worlds."""

    start: Key[Array, " episode"]
    steps: Key[Array, "time episode"]
    chances: Float[Array, "time episode agent *number"]  # each chooses one action, or a number of one


def draws_of(game: Game, keys: Key[Array, " episode"]) -> Draws:
    """The draws of the episodes with these keys."""

    def of_one(key: PRNGKeyArray) -> tuple[PRNGKeyArray, Key[Array, " time"], Array]:
        start_key, world_key, action_key = jax.random.split(key, 3)
        return start_key, jax.random.split(world_key, game.horizon), action_chances(action_key, game)

    start, steps, chances = jax.vmap(of_one, out_axes=(0, 1, 1))(keys)
    return Draws(start, steps, chances)


def action_chances(key: PRNGKeyArray, game: Game) -> Float[Array, "time agent *number"]:
    """The uniform draws that choose every action of an episode.

    Drawn slot by slot (JAX numbers the draws along the last axes), so that a wider world changes none.
    """
    return jnp.swapaxes(jax.random.uniform(key, (game.slots, game.horizon, *game.action_space.shape)), 0, 1)
