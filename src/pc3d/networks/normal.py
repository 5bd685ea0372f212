"""What messages are drawn from: each of their numbers by itself."""

from __future__ import annotations

from math import log, pi

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

LOG_VARIANCES = (-10.0, 0.0)  # COPA's bounds


class Normal(eqx.Module):
    """What numbers are drawn from."""

    mean: Float[Array, "... number"]
    log_variance: Float[Array, "... number"]

    @classmethod
    def bounded(cls, mean: Float[Array, "... number"], raw: Float[Array, "... number"]) -> Normal:
        return cls(mean, jnp.clip(raw, *LOG_VARIANCES))

    def drawn(self, noise: Float[Array, "... number"]) -> Float[Array, "... number"]:
        """z = μ + σ ε, of which the gradient is known."""
        return self.mean + jnp.exp(self.log_variance / 2) * noise

    def divergence_from(self, other: Normal) -> Float[Array, "..."]:
        """KL(self ‖ other)."""
        spread = jnp.exp(self.log_variance) + (self.mean - other.mean) ** 2
        apart = other.log_variance - self.log_variance
        return 0.5 * jnp.sum(spread * jnp.exp(-other.log_variance) + apart - 1, axis=-1)

    def entropy(self) -> Float[Array, "..."]:
        return 0.5 * jnp.sum(self.log_variance + log(2 * pi) + 1, axis=-1)

    def log_density(self, said: Float[Array, "... number"]) -> Float[Array, "..."]:
        distance = (said - self.mean) ** 2 * jnp.exp(-self.log_variance)
        return -0.5 * jnp.sum(distance + self.log_variance + log(2 * pi), axis=-1)
