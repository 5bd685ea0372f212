"""Generalised advantage estimation."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


class Departures(eqx.Module):
    """Of agents with values of their own: who is gone after a step, and what the team expects then.

    For who leaves, the team goes on, and all local values estimate the same team return: so what is to come
    for it is what those who are there then expect on average.
    """

    gone: Bool[Array, " time *agent"]
    expected: Float[Array, " time *agent"]

    @classmethod
    def of(cls, values: Float[Array, "moment agent"], present: Bool[Array, "moment agent"]) -> "Departures":
        expected = jnp.mean(values[1:], axis=-1, keepdims=True, where=present[1:])
        return cls(~present[1:], jnp.broadcast_to(expected, present[1:].shape))


def generalised_advantages(
    rewards: Float[Array, " time"],
    values: Float[Array, " moment"],
    played: Bool[Array, " time"],
    terminated: Bool[Array, " time"],
    discount: float,
    gae_lambda: float,
    *,
    horizon_bootstraps: bool,
    departures: Departures | None = None,
) -> Float[Array, " time"]:
    """A_t = Σ_l (γλ)^l δ_{t+l} over one episode; zero after its end.

    Nothing follows a termination. At the time limit the value of the next moment counts if asked. What a
    slot's next agent does is not to the credit of the one before; of absent agents nothing is said.
    """
    last_played = played & ~jnp.append(played[1:], False)
    stops = terminated if horizon_bootstraps else terminated | last_played
    following, ends = values[1:], last_played
    if departures is not None:
        following = jnp.where(departures.gone, departures.expected, following)
        ends = ends | departures.gone
    errors = rewards + discount * jnp.where(stops, 0, following) - values[:-1]

    def step(later: Array, now: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        error, ends, real = now
        advantage = jnp.where(real, error + discount * gae_lambda * jnp.where(ends, 0, later), 0)
        return advantage, advantage

    _, advantages = jax.lax.scan(step, jnp.zeros(()), (errors, ends, played), reverse=True)
    return advantages
