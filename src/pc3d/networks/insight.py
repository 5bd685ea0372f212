"""What an actor is told of its team while it learns, and no longer when it acts: its student does without.

Whoever is absent tells nothing, and sums are over those who are there.
"""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from pc3d.experiment.algorithm_settings import InsightSettings
from pc3d.networks.actor import Actor
from pc3d.networks.critics import TeamView, beside
from pc3d.networks.joined import joined
from pc3d.networks.layers import Activation, Dense, Mlp


class Insight(eqx.Module):
    """Between the actor and its team; each kind tells its actor something in one of two places."""

    def beside_observations(
        self, seen: Float[Array, "... agent observation"], present: Bool[Array, "... agent"]
    ) -> Float[Array, "... agent shown"]:
        """What everybody sees, and beside it what is told of the team."""
        del present
        return seen

    def beside_features(
        self, features: Float[Array, "... feature"], view: TeamView
    ) -> Float[Array, "... told"]:
        """What is remembered, and beside it what the head is told."""
        del view
        return features

    @abc.abstractmethod
    def policy(self, actor: Actor, student: Actor) -> Actor:
        """What acts in the end: from its own history alone."""


class PersonalInformation(Insight):
    """PTDE: z_i = W(h_i) g + b(h_i), where g is the mean of the team's encodings."""

    encoder: Mlp
    to_information: Dense
    width: int = eqx.field(static=True)

    def __init__(
        self,
        key: PRNGKeyArray,
        observation: int,
        features: int,
        activation: Activation,
        settings: InsightSettings,
    ) -> None:
        encoder_key, information_key = jax.random.split(key)
        widths = (observation, *settings.encoder_widths, settings.encoding)
        self.encoder, self.width = Mlp(encoder_key, widths, activation), settings.told
        self.to_information = Dense(information_key, features, settings.told * (settings.encoding + 1))

    def information(
        self, features: Float[Array, "... feature"], view: TeamView
    ) -> Float[Array, "... information"]:
        """z of everybody; anything where nobody is."""
        team = jnp.mean(view.of_each(self.encoder), axis=-2, where=view.present[..., None])
        made = self.to_information(features).reshape(*features.shape[:-1], self.width, -1)
        weights, offset = made[..., :-1], made[..., -1]
        return jnp.sum(weights * view.for_each(team)[..., None, :], axis=-1) + offset

    def beside_features(
        self, features: Float[Array, "... feature"], view: TeamView
    ) -> Float[Array, "... told"]:
        return beside(features, self.information(features, view))

    def policy(self, actor: Actor, student: Actor) -> Actor:
        return joined(actor, student)


class TeamAttention(Insight):
    """CTDS: c_i = Σ_j softmax_j(q(e_i) · k(e_j) / √d) v(e_j) over the team, with e_j = φ(o_j)."""

    encoder: Mlp
    to_query: Dense
    to_key: Dense
    to_value: Dense

    def __init__(
        self, key: PRNGKeyArray, observation: int, activation: Activation, settings: InsightSettings
    ) -> None:
        encoder_key, *keys = jax.random.split(key, 4)
        widths = (observation, *settings.encoder_widths, settings.encoding)
        self.encoder = Mlp(encoder_key, widths, activation)
        self.to_query, self.to_key, self.to_value = (
            Dense(one, settings.encoding, settings.told) for one in keys
        )

    def beside_observations(
        self, seen: Float[Array, "... agent observation"], present: Bool[Array, "... agent"]
    ) -> Float[Array, "... agent shown"]:
        seen = jnp.where(present[..., None], seen, 0)
        encodings = self.encoder(seen)
        queries, keys, values = (to(encodings) for to in (self.to_query, self.to_key, self.to_value))
        similarity = jnp.einsum("...id,...jd->...ij", queries, keys) / jnp.sqrt(queries.shape[-1])
        attention = jax.nn.softmax(jnp.where(present[..., None, :], similarity, -jnp.inf), axis=-1)
        return beside(seen, jnp.einsum("...ij,...jd->...id", attention, values))

    def policy(self, actor: Actor, student: Actor) -> Actor:
        del actor
        return student
