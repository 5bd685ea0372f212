"""A policy that leaves its reference as far as that is worth it: π(a) ∝ p(a) exp(Q(a) / α)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from pc3d.learners.experience import said_by
from pc3d.networks.actor import Actor
from pc3d.play.choosing import only_allowed
from pc3d.play.episode import Episode


class Reference(eqx.Module):
    """p, and what it costs to leave it."""

    actor: Actor
    cost: Float[Array, ""]
    """α, of a nat: on the scale of utilities."""

    def policy(
        self, episodes: Episode, seen: Array, utilities: Array, *, roster_changes: bool
    ) -> "SoftPolicy":
        """Of agents in episodes, to whom actions are worth so much."""
        usual = said_by(self.actor, episodes, seen, roster_changes=roster_changes).logits
        allowed = None if episodes.allowed is None else jnp.asarray(episodes.allowed)
        return SoftPolicy.of(utilities, usual, self.cost, allowed)


class SoftPolicy(eqx.Module):
    """What an agent does, and how far that is from its reference."""

    chances: Float[Array, "... action"]
    information: Float[Array, "..."]
    """KL(π ‖ p) in nats. Its mean is what actions tell of s⁻ given s⁺, if p is the mean policy there."""
    entropy: Float[Array, "..."]

    @classmethod
    def of(
        cls,
        utilities: Float[Array, "... action"],
        reference: Float[Array, "... action"],
        cost: Float[Array, ""],
        allowed: Bool[Array, "... action"] | None = None,
    ) -> "SoftPolicy":
        """From what actions are worth and the logits of p; neither does what is forbidden."""
        likely, usual = (
            jax.nn.log_softmax(only_allowed(logits, allowed))
            for logits in (utilities / cost + reference, reference)
        )
        chances = jnp.exp(likely)
        information = jnp.sum(chances * (likely - usual), axis=-1)
        return cls(chances, information, -jnp.sum(chances * likely, axis=-1))

    def expected(self, values: Float[Array, "... action"]) -> Float[Array, "..."]:
        """Σ_a π(a) values(a)."""
        return jnp.sum(self.chances * values, axis=-1)
