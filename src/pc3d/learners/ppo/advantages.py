"""Generalised advantage estimation."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


def generalised_advantages(
    rewards: Float[Array, " time"],
    values: Float[Array, " moment"],
    played: Bool[Array, " time"],
    terminated: Bool[Array, " time"],
    discount: float,
    gae_lambda: float,
    *,
    horizon_bootstraps: bool,
) -> Float[Array, " time"]:
    """A_t = Σ_l (γλ)^l δ_{t+l} over one episode; zero after its end.

    Nothing follows a termination. At the time limit the value of the next moment counts if asked.
    """
    last_played = played & ~jnp.append(played[1:], False)
    stops = terminated if horizon_bootstraps else terminated | last_played
    errors = rewards + discount * jnp.where(stops, 0, values[1:]) - values[:-1]

    def step(later: Array, now: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        error, ends, real = now
        advantage = jnp.where(real, error + discount * gae_lambda * jnp.where(ends, 0, later), 0)
        return advantage, advantage

    _, advantages = jax.lax.scan(step, jnp.zeros(()), (errors, last_played, played), reverse=True)
    return advantages
