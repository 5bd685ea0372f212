"""Loops over agents whose programs do not grow with the team, and quick looks into tables."""

from collections.abc import Callable
from typing import TypeVar

import jax
from jaxtyping import Array, Int, PyTree, Shaped

UNROLLED = 16

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


def entries(table: Shaped[Array, " entry"], places: Int[Array, "*place"]) -> Shaped[Array, "*place"]:
    """Those at the places, all of which there are: asking whether there are takes longer than looking."""
    found: Array = table.at[places].get(mode="promise_in_bounds", wrap_negative_indices=False)
    return found
