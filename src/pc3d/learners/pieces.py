"""A minibatch in equal pieces: what is computed of each stays in the processor's cache, and adds up."""

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Shaped

Minibatch = TypeVar("Minibatch")  # any tree of arrays, with an axis over episodes before all others
Sums = TypeVar("Sums")

ROW_STEPS = 1800  # of a piece, agents times moments: what stays in the processor's cache


def added_up(of_piece: Callable[[Minibatch], Sums], batch: Minibatch, count: int) -> Sums:
    """What a function finds in each of so many pieces, together."""
    if count == 1:
        return of_piece(batch)

    def add(so_far: Sums, piece: Minibatch) -> tuple[Sums, None]:
        return jax.tree.map(jnp.add, so_far, of_piece(piece)), None

    pieces = grouped(batch, count)
    shapes = jax.eval_shape(of_piece, jax.tree.map(lambda values: values[0], pieces))
    nothing = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
    return jax.lax.scan(add, nothing, pieces)[0]


def pieces_of(episodes: int, moments: int, slots: int) -> int:
    """Into how many equal pieces a minibatch is cut."""
    most = max(1, ROW_STEPS // (moments * slots))
    return next(
        count for count in range(1, episodes + 1) if episodes % count == 0 and episodes // count <= most
    )


def grouped(batch: Any, groups: int) -> Any:
    """Equal groups of a tree's rows, in their order."""

    def cut(values: Shaped[Array, "all ..."]) -> Shaped[Array, "group each ..."]:
        return jnp.reshape(values, (groups, -1, *values.shape[1:]))

    return jax.tree.map(cut, batch)
