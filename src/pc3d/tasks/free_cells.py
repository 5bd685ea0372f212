"""Where newcomers appear on a grid: each on a free cell of its own, all equally likely."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from pc3d.tasks.loops import for_each_marked
from pc3d.tasks.task import slot_keys


class _Room(NamedTuple):
    free: Bool[Array, " cell"]
    taken: Int[Array, " agent"]


def cells_of_newcomers(
    key: PRNGKeyArray, joining: Bool[Array, " agent"], free: Bool[Array, " cell"]
) -> Int[Array, " agent"]:
    """A cell for each newcomer, by number; nothing is said of the others."""
    chances = jax.vmap(jax.random.uniform)(slot_keys(key, joining.size))

    def take(room: _Room, agent: Int[Array, ""]) -> _Room:
        cell = chosen_cell(room.free, chances[agent])
        return _Room(room.free.at[cell].set(False), room.taken.at[agent].set(cell))

    return for_each_marked(take, _Room(free, jnp.zeros(joining.size, jnp.int32)), joining).taken


def chosen_cell(free: Bool[Array, " cell"], chance: Float[Array, ""]) -> Int[Array, ""]:
    """The free cell that a uniform chance stands for."""
    so_far = jnp.cumsum(free)
    return jnp.argmax(so_far > (chance * so_far[-1]).astype(int)).astype(jnp.int32)
