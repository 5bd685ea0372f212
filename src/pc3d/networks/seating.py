"""Agents of several teams in rows, without empty slots, and the way from a row to its place in a team."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

NOBODY = -1


class Seating(eqx.Module):
    """Which rows make up which team."""

    seats: Int[Array, "team agent"]
    """The row of a team's agent; any row where nobody is."""
    places: Int[Array, " row"]
    """The way back: team * slots + agent; NOBODY for a row that is not filled."""

    def of_teams(self, rows: Float[Array, "... row width"]) -> Float[Array, "... team agent width"]:
        """The rows team by team; anything where nobody is."""
        return _seated(rows, self.seats, self.places)

    def for_members(self, teams: Float[Array, "... team width"]) -> Float[Array, "... row width"]:
        """What there is of each team for each of its rows; anything for a row that is not filled."""
        return teams[..., self.places // self.seats.shape[-1], :]

    def of_rows(self, teams: Float[Array, "... team agent width"]) -> Float[Array, "... row width"]:
        """The way back; zeros in a row that is not filled."""
        return _in_rows(teams, self.seats, self.places)


# The derivative is written out: every row has one place, so it is looked up where the automatic one adds up.
@jax.custom_vjp
def _seated(rows: Array, seats: Array, places: Array) -> Array:
    return _forward(rows, seats, places)[0]


def _forward(rows: Array, seats: Array, places: Array) -> tuple[Array, Array]:
    return rows[..., seats, :], places


def _backward(places: Array, gradients: Array) -> tuple[Array, None, None]:
    flat = gradients.reshape(*gradients.shape[:-3], -1, gradients.shape[-1])
    return jnp.where((places != NOBODY)[:, None], flat[..., places, :], 0), None, None


_seated.defvjp(_forward, _backward)


# The same the other way round.
@jax.custom_vjp
def _in_rows(teams: Array, seats: Array, places: Array) -> Array:
    del seats  # but for the derivative
    return _backward(places, teams)[0]


def _in_rows_forward(teams: Array, seats: Array, places: Array) -> tuple[Array, tuple[Array, Array]]:
    return _in_rows(teams, seats, places), (seats, places)


def _in_rows_backward(saved: tuple[Array, Array], gradients: Array) -> tuple[Array, None, None]:
    seats, places = saved
    at = jnp.where(places == NOBODY, seats.size, places)
    taken = jnp.zeros(seats.size, bool).at[at].set(True, mode="drop").reshape(seats.shape)
    return jnp.where(taken[..., None], gradients[..., seats, :], 0), None, None


_in_rows.defvjp(_in_rows_forward, _in_rows_backward)
