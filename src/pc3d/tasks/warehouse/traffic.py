"""Who may drive when several robots want the same cell: the warehouse's rules of the road.

Each robot follows at most one other, the one on the cell it wants, so its way forward is a single path. The
path ends on a free cell or runs into a circle; a robot that stays is a circle of one. All paths are followed
at once by jumps that double in length, so that a team needs only the logarithm of its size of them.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from pc3d.tasks.loops import entries, one_by_one

Robots = Int[Array, " agent"]
UNROLLED_JUMPS = 4  # of a team of up to 16


class Traffic(NamedTuple):
    moves: Bool[Array, " agent"]
    tied: Bool[Array, ""]  # equally long queues met, and the lowest agent index decided


class Paths(NamedTuple):
    places: Robots  # in a queue: how many robots drive in front
    jumps: Int[Array, "jump agent"]  # whom each robot reaches by one jump, the first ones being the shortest
    last: Robots  # whom it reaches in the end: the first of its queue, or somebody in a circle


def resolve(cells: Robots, targets: Robots) -> Traffic:
    """Circles of three or more turn; of all queues towards one free cell, the longest drives.

    A robot that stays has its own cell as target. All others wait: swaps of two, queues behind a circle,
    and whoever is not in the longest queue.
    """
    index = jnp.arange(cells.size, dtype=jnp.int32)
    in_front = jnp.max(jnp.where(cells[:, None] == targets, index[:, None], -1), axis=0)
    leads = in_front < 0  # towards a free cell
    in_front = jnp.where(leads, index, in_front)
    paths = _followed(in_front, leads)
    queueing = entries(leads, paths.last)

    # Rivals for a cell have the same place, so the longer queue is the one whose last robot is further back.
    ends = one_by_one(_largest_behind, paths.places, paths.jumps, unrolled=UNROLLED_JUMPS)
    rivals = (targets[:, None] == targets) & (index[:, None] != index)
    priorities = ends * cells.size - index
    beaten = jnp.any(rivals & (priorities[:, None] > priorities), axis=0)
    drives = queueing & ~one_by_one(_any_in_front, beaten, paths.jumps, unrolled=UNROLLED_JUMPS)

    # All of a circle are somebody's last, if only their own.
    circling = jnp.any(paths.last[:, None] == index, axis=0) & ~queueing
    turns = circling & (in_front != index) & (entries(in_front, in_front) != index)
    equals = jnp.any(rivals & (ends[:, None] == ends), axis=0)
    return Traffic(moves=drives | turns, tied=jnp.any(drives & equals))


def _followed(in_front: Robots, leads: Bool[Array, " agent"]) -> Paths:
    def jump_on(reached: tuple[Robots, Robots], _: None) -> tuple[tuple[Robots, Robots], Robots]:
        jump, places = reached
        return (entries(jump, jump), places + entries(places, jump)), jump

    count = (in_front.size - 1).bit_length()
    unroll = count <= UNROLLED_JUMPS
    start = in_front, jnp.where(leads, 0, 1)
    (last, places), jumps = jax.lax.scan(jump_on, start, length=count, unroll=unroll)
    return Paths(places, jumps, last)


def _largest_behind(numbers: Robots, jump: Robots) -> Robots:
    return numbers.at[jump].max(numbers, mode="promise_in_bounds", wrap_negative_indices=False)


def _any_in_front(marked: Bool[Array, " agent"], jump: Robots) -> Bool[Array, " agent"]:
    return marked | entries(marked, jump)
