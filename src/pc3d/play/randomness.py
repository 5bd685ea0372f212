"""Every random stream is a function of (seed, purpose, number): nothing to save, nothing to get lost."""

from enum import IntEnum

import jax
from jaxtyping import Array, Int, PRNGKeyArray


class Purpose(IntEnum):
    """What a stream is for. Numbers are part of every result: never change one."""

    INITIALISE = 0
    PLAY = 1
    SHUFFLE = 2
    EVALUATE = 3


def stream(seed: int | Int[Array, ""], purpose: Purpose, number: int | Int[Array, ""] = 0) -> PRNGKeyArray:
    """The key of one stream."""
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), purpose), number)
