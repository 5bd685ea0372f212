"""An actor whose agents tell each other something before they act: rounds of attention over who is heard.

Who hears whom is data (`links`): the diagonal says who is there, so everybody who is hears itself.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from pc3d.experiment.execution import LinkLoss
from pc3d.networks.actor import Actor
from pc3d.networks.conditioning import PolicyOutput
from pc3d.networks.layers import ACTIVATIONS, HIDDEN_GAIN, NO_WEIGHT, Activation, Dense
from pc3d.networks.seating import Seating


class Rounds(eqx.Module):
    """The same weights in every round, for everybody."""

    to_query: Dense
    to_key: Dense
    to_value: Dense
    update: Dense
    activation: Activation = eqx.field(static=True)
    count: int = eqx.field(static=True)

    def __init__(self, key: PRNGKeyArray, width: int, activation: Activation, count: int) -> None:
        query_key, key_key, value_key, update_key = jax.random.split(key, 4)
        self.to_query, self.to_key, self.to_value = (
            Dense(key, width, width) for key in (query_key, key_key, value_key)
        )
        self.update = Dense(update_key, 2 * width, width, HIDDEN_GAIN)
        self.activation, self.count = activation, count

    def __call__(
        self,
        features: Float[Array, "... h"],
        links: Bool[Array, "... agent agent"],
        seating: Seating | None = None,
    ) -> tuple[Float[Array, "... h"], Float[Array, "... agent"]]:
        """What everybody has made of what it heard, and how much it listened to itself, on average."""
        to_self = []
        for _ in range(self.count):
            heard, weights = self._heard(features, links, seating)
            # u_i = σ(U [u_i; m_i])
            together = jnp.concatenate([features, heard], axis=-1)
            features = ACTIVATIONS[self.activation](self.update(together))
            to_self.append(jnp.diagonal(weights, axis1=-2, axis2=-1))
        return features, jnp.mean(jnp.stack(to_self), axis=0)

    def _heard(
        self, features: Float[Array, "... h"], links: Bool[Array, "... agent agent"], seating: Seating | None
    ) -> tuple[Float[Array, "... h"], Float[Array, "... agent agent"]]:
        """m_i = Σ_j α_ij V u_j with α_ij ∝ exp(Q u_i · K u_j / √d) over those whom i hears."""
        parts = tuple(layer(features) for layer in (self.to_query, self.to_key, self.to_value))
        query, key, value = parts if seating is None else map(seating.of_teams, parts)
        scores = jnp.einsum("...ih,...jh->...ij", query, key) / query.shape[-1] ** 0.5
        weights = jax.nn.softmax(jnp.where(links, scores, NO_WEIGHT), axis=-1)
        there = jnp.diagonal(links, axis1=-2, axis2=-1)[..., None]
        heard = weights @ jnp.where(there, value, 0)  # so that nothing in padded slots can matter
        return heard if seating is None else seating.of_rows(heard), weights


class TalkingActor(Actor):
    """π(a | own history, what teammates in sight say)."""

    rounds: Rounds
    loss: LinkLoss = eqx.field(static=True)
    """Which links it is trained without."""

    def __init__(self, key: PRNGKeyArray, alone: Actor, rounds: int, loss: LinkLoss) -> None:
        """An actor, with something to say besides."""
        self.encoder, self.memory, self.conditioning = alone.encoder, alone.memory, alone.conditioning
        self.values_actions, self.squashing = alone.values_actions, alone.squashing
        self.rounds, self.loss = Rounds(key, alone.memory.width, alone.encoder.activation, rounds), loss

    def says_among(
        self,
        features: Float[Array, "... h"],
        links: Bool[Array, "... agent agent"],
        seating: Seating | None = None,
    ) -> tuple[PolicyOutput, Float[Array, "... agent"]]:
        """What to do, after all rounds; and how much everybody listened to itself."""
        features, to_self = self.rounds(features, links, seating)
        return self.conditioning(features), to_self

    def says(self, features: Float[Array, "... h"]) -> PolicyOutput:
        """What it would do with nobody to hear."""
        alone = jnp.ones((*features.shape[:-1], 1, 1), bool)
        policy, _ = self.says_among(features[..., None, :], alone)
        return jax.tree.map(lambda part: jnp.squeeze(part, -2), policy)
