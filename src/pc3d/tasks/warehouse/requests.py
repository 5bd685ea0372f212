"""RWARE's open requests: how they are drawn, and what becomes of them when a shelf is delivered."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from pc3d.tasks.loops import entries
from pc3d.tasks.task import scalar, slot_keys
from pc3d.tasks.warehouse.floor import NOTHING


class _Service(NamedTuple):
    """Goals are served in their order."""

    requests: Int[Array, " agent"]
    delivered: Int[Array, ""]
    goal: Int[Array, ""]  # the next one with a requested shelf on it; beyond the last one if there is none


def deliver(
    on_goals: Int[Array, " goal"],
    requests: Int[Array, " agent"],
    chances: Float[Array, " goal"],
    shelves: int,
) -> tuple[Int[Array, " agent"], Int[Array, ""]]:
    """Replace the requests whose shelf is on a goal, and count them.

    Shelves never stand on highways, so a shelf on a goal is a carried one. A goal's new request may be the
    very shelf on a later goal: then that one is delivered, too.
    """
    numbers = jnp.arange(on_goals.size, dtype=jnp.int32)

    def next_goal(first: int | Int[Array, ""], requests: Int[Array, " agent"]) -> Int[Array, ""]:
        wanted = jnp.any(requests[:, None] == on_goals, axis=0) & (on_goals != NOTHING) & (numbers >= first)
        return jnp.min(jnp.where(wanted, numbers, on_goals.size))

    def serve(now: _Service) -> _Service:
        new = _number_outside(entries(chances, now.goal), now.requests, shelves)
        requests = jnp.where(now.requests == entries(on_goals, now.goal), new, now.requests)
        return _Service(requests, now.delivered + 1, next_goal(now.goal + 1, requests))

    start = _Service(requests, scalar(0), next_goal(0, requests))
    # A loop over deliveries, not over goals: most steps see none.
    done = jax.lax.while_loop(lambda now: now.goal < on_goals.size, serve, start)
    return done.requests, done.delivered


def _number_outside(chance: Float[Array, ""], taken: Int[Array, " taken"], largest: int) -> Int[Array, ""]:
    """A number from 1 to `largest` that is not taken, by a uniform chance; taken 0s do not count.

    The numbers outside are not listed: chance says how many of them are smaller, and so how many taken ones.
    """
    real = taken > 0
    smaller = jnp.sum(real[:, None] & (taken[:, None] < taken), axis=0)
    untaken_below = taken - 1 - smaller
    rank = (chance * (largest - jnp.sum(real))).astype(int)
    return (rank + 1 + jnp.sum(real & (untaken_below <= rank))).astype(jnp.int32)


def distinct_numbers(key: PRNGKeyArray, slots: int, largest: int) -> Int[Array, " agent"]:
    """Different numbers from 1 to `largest`, one per slot; each depends on earlier slots only."""
    chances = jax.vmap(jax.random.uniform)(slot_keys(key, slots))

    def draw(slot: Int[Array, ""], numbers: Int[Array, " agent"]) -> Int[Array, " agent"]:
        return numbers.at[slot].set(_number_outside(chances[slot], numbers, largest))

    return jax.lax.fori_loop(0, slots, draw, jnp.zeros(slots, jnp.int32))
