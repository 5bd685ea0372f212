"""Whether an update is still made of numbers: what training looks at before it goes on."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


class Health(eqx.Module):
    """What is made of finite numbers, in the order in which a fault would spread."""

    observations: Bool[Array, ""]
    rewards: Bool[Array, ""]
    values: Bool[Array, ""]
    loss: Bool[Array, ""]
    gradient: Bool[Array, ""]
    optimiser: Bool[Array, ""]
    parameters: Bool[Array, ""]


def all_finite(values: Float[Array, "..."]) -> Bool[Array, ""]:
    return jnp.all(jnp.isfinite(values))
