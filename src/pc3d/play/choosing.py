"""From logits and uniform draws to actions, of which a mask may forbid some."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from pc3d.networks.actor import Actor
from pc3d.networks.squashing import Squashing
from pc3d.tasks.arrays import AnyArray

FORBIDDEN = -1e30  # a logit whose chance is exactly 0, but which, times that, is still a number


class Choosing(eqx.Module):
    """How an actor's logits become one of several actions."""

    def decide(
        self,
        logits: Float[Array, "*rows action"],
        chances: Float[Array, "*rows"],
        allowed: Bool[AnyArray, "*rows action"] | None = None,
        *,
        greedy: bool = False,
    ) -> tuple[Int[Array, "*rows"], Float[Array, "*rows"]]:
        """The action each draw stands for (or the likeliest), and its log-probability."""
        return choose(logits, chances, allowed, greedy=greedy)

    def distribution(
        self,
        logits: Float[Array, "*rows action"],
        allowed: Bool[AnyArray, "*rows action"] | None = None,
    ) -> Chances:
        """What actions are drawn from."""
        return Chances(jax.nn.log_softmax(only_allowed(logits, allowed)))


class Chances(eqx.Module):
    """How likely each action is."""

    log_probabilities: Float[Array, "*rows action"]

    def log_probability(self, actions: Int[Array, "*rows"]) -> Float[Array, "*rows"]:
        return of_action(self.log_probabilities, actions)

    def entropy(self) -> Float[Array, "*rows"]:
        return -jnp.sum(jnp.exp(self.log_probabilities) * self.log_probabilities, axis=-1)


Acting = Choosing | Squashing


def acting_of(actor: Actor) -> Acting:
    """How what an actor says becomes actions."""
    return Choosing() if actor.squashing is None else actor.squashing


def choose(
    logits: Float[Array, "... action"],
    chances: Float[Array, "..."],
    allowed: Bool[AnyArray, "... action"] | None = None,
    *,
    greedy: bool = False,
) -> tuple[Int[Array, "..."], Float[Array, "..."]]:
    """The action each draw stands for (or the likeliest), and its log-probability."""
    logits = only_allowed(logits, allowed)
    log_probabilities = jax.nn.log_softmax(logits)
    if greedy:
        actions = jnp.argmax(logits, axis=-1)
    else:
        passed = chances[..., None] >= jnp.cumsum(jnp.exp(log_probabilities), axis=-1)
        # Rounding can leave the last sum a little below 1, and a draw above it.
        actions = jnp.minimum(jnp.sum(passed, axis=-1), _last(logits, allowed))
    return actions, of_action(log_probabilities, actions)


def only_allowed(
    logits: Float[Array, "... action"], allowed: Bool[AnyArray, "... action"] | None
) -> Float[Array, "... action"]:
    """The logits (or values) of allowed actions, and for all others the least there is."""
    return logits if allowed is None else jnp.where(allowed, logits, FORBIDDEN)


def _last(logits: Array, allowed: Bool[AnyArray, "... action"] | None) -> int | Int[Array, "..."]:
    """The last action that may be taken."""
    if allowed is None:
        return logits.shape[-1] - 1
    return jnp.max(jnp.where(allowed, jnp.arange(logits.shape[-1]), 0), axis=-1)


def of_action(values: Float[Array, "... action"], actions: Int[Array, "..."]) -> Float[Array, "..."]:
    """The entry of the action taken; a comparison, because gathers are slow to differentiate on a CPU."""
    taken = actions[..., None] == jnp.arange(values.shape[-1])
    return jnp.sum(jnp.where(taken, values, 0), axis=-1)
