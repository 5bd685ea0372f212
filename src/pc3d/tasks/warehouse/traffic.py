"""Who may drive when several robots want the same cell: the warehouse's rules of the road.

Each robot follows at most one other, the one on the cell it wants, so its way forward is a single path. The
path ends on a free cell or runs into a circle; a robot that stays is a circle of one. Sets of robots are
written as the bits of one integer: for so few robots that is the fastest way to follow all paths at once.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int


class Traffic(NamedTuple):
    moves: Bool[Array, " agent"]
    tied: Bool[Array, ""]  # equally long queues met, and the lowest agent index decided


def resolve(cells: Int[Array, " agent"], targets: Int[Array, " agent"]) -> Traffic:
    """Circles of three or more turn; of all queues towards one free cell, the longest drives.

    A robot that stays has its own cell as target. All others wait: swaps of two, queues behind a circle,
    and whoever is not in the longest queue.
    """
    agents = cells.size
    index = jnp.arange(agents)
    ahead = _all_ahead(cells, targets)
    places = jax.lax.population_count(ahead)  # in a queue: how many robots drive in front
    circling = (ahead & (1 << index)) != 0
    queueing = (ahead & _as_set(circling)) == 0

    # Rivals for a cell have the same place, so the longer queue is the one whose last robot is further back.
    ends = jnp.max(jnp.where(_contains(ahead, index), places[:, None], places), axis=0)
    rivals = (targets[:, None] == targets[None, :]) & (index[:, None] != index[None, :])
    priorities = ends * agents - index
    beaten = jnp.any(rivals & (priorities[None, :] > priorities[:, None]), axis=1)
    drives = queueing & ~beaten & ((ahead & _as_set(beaten)) == 0)

    equals = jnp.any(rivals & (ends[None, :] == ends[:, None]), axis=1)
    return Traffic(moves=drives | (circling & (places >= 3)), tied=jnp.any(drives & equals))


def _all_ahead(cells: Int[Array, " agent"], targets: Int[Array, " agent"]) -> Int[Array, " agent"]:
    """The set of robots on each robot's path; in a circle that includes itself."""
    index = jnp.arange(cells.size)
    ahead = jnp.sum(jnp.where(targets[:, None] == cells[None, :], 1 << index, 0), axis=1)
    # Each round adds what those ahead have ahead of them, which doubles how far everyone looks.
    for _ in range((cells.size - 1).bit_length()):
        theirs = jnp.where(_contains(ahead, index), ahead[None, :], 0)
        ahead |= jax.lax.reduce(theirs, np.zeros((), ahead.dtype), jax.lax.bitwise_or, (1,))
    return ahead


def _contains(sets: Int[Array, " agent"], members: Int[Array, " member"]) -> Bool[Array, "agent member"]:
    return ((sets[:, None] >> members[None, :]) & 1) == 1


def _as_set(members: Bool[Array, " agent"]) -> Int[Array, ""]:
    return jnp.sum(jnp.where(members, 1 << jnp.arange(members.size), 0))
