"""Loops over agents whose programs do not grow with the team, nor their memory with its square."""

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, PyTree, Shaped

UNROLLED = 16
BLOCK = 16

Carry = TypeVar("Carry")


def one_by_one(
    step: Callable[[Carry, PyTree[Array]], Carry],
    start: Carry,
    each: PyTree[Array],
    *,
    unrolled: int = UNROLLED,
) -> Carry:
    """What is left after a step for each, in order.

    A few are one straight line of code, the fastest that a small team can have; more are a loop.
    """

    def body(carry: Carry, one: PyTree[Array]) -> tuple[Carry, None]:
        return step(carry, one), None

    return jax.lax.scan(body, start, each, unroll=unrolled)[0]


def for_each_marked(
    step: Callable[[Carry, Int[Array, ""]], Carry], start: Carry, marked: Bool[Array, " agent"]
) -> Carry:
    """What is left after a step for each one that is marked, in order: nothing is computed if nobody is."""

    def body(now: tuple[Carry, Bool[Array, " agent"]]) -> tuple[Carry, Bool[Array, " agent"]]:
        carry, left = now
        number = jnp.argmax(left)
        return step(carry, number), left & (jnp.arange(left.size) != number)

    carry, _ = jax.lax.while_loop(lambda now: jnp.any(now[1]), body, (start, marked))
    return carry


def entries(table: Shaped[Array, " entry"], places: Int[Array, "*place"]) -> Shaped[Array, "*place"]:
    """Those at the places, all of which there are: asking whether there are takes longer than looking."""
    found: Array = table.at[places].get(mode="promise_in_bounds", wrap_negative_indices=False)
    return found


def by_blocks(function: Callable[[PyTree[Array]], PyTree[Array]], agents: PyTree[Array]) -> PyTree[Array]:
    """What a function makes of all agents, block by block, so that pairs of agents never fill the memory.

    A small team is one block. Zeros (and so nobody present) fill up the last one.
    """
    count = len(jax.tree.leaves(agents)[0])
    if count <= BLOCK:
        return function(agents)

    def cut(values: Array) -> Array:
        filled = jnp.pad(values, [(0, -count % BLOCK)] + [(0, 0)] * (values.ndim - 1))
        return filled.reshape(-1, BLOCK, *values.shape[1:])

    found = jax.lax.map(function, jax.tree.map(cut, agents))
    return jax.tree.map(lambda values: values.reshape(-1, *values.shape[2:])[:count], found)
