"""More draws of an agent's than the one it has: all follow from that one, so that a team needs no more."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

NORMAL, UNIFORM = 0xC0AC4, 0xE1EC7


def normal_draws(chances: Float[Array, "*rows"], count: int) -> Float[Array, "*rows number"]:
    return _draws(NORMAL, chances, lambda key: jax.random.normal(key, (count,)))


def uniform_draws(chances: Float[Array, "*rows"], count: int) -> Float[Array, "*rows number"]:
    """JAX numbers them: more of them change none."""
    return _draws(UNIFORM, chances, lambda key: jax.random.uniform(key, (count,)))


def _draws(kind: int, chances: Array, draw: Callable[[PRNGKeyArray], Array]) -> Array:
    bits = jax.lax.bitcast_convert_type(chances, jnp.uint32)
    made = jax.vmap(lambda one: draw(jax.random.fold_in(jax.random.key(kind), one)))(bits.ravel())
    return made.reshape(*chances.shape, -1)
