"""COPA's coach: it attends to all entities, and has a message for each agent.

Messages are drawn while it learns; when it acts each is its mean. What an agent was told should show in
what it does: a recogniser tells it from there, and is there for learning alone.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from pc3d.experiment.network_settings import CriticSettings
from pc3d.networks.critics import CriticInputs
from pc3d.networks.entity_attention import EntityAttention
from pc3d.networks.entity_mixer import EntityMixer
from pc3d.networks.layers import Dense, Mlp
from pc3d.networks.normal import Normal
from pc3d.tasks.entity_rows import all_rows

LEAST_LIKELY = -1000.0  # of a message's log-density, which is not counted above 0 either, as there


class Coach(eqx.Module):
    """N(μ(x_i), σ²(x_i)) with x_i = [e_i; a_i] over all entities there are."""

    attention: EntityAttention
    to_mean: Dense
    to_log_variance: Dense

    @property
    def width(self) -> int:
        """How many numbers each agent is told."""
        return self.to_mean.bias.shape[-1]

    def advice(self, whole: Float[Array, "... state"], present: Bool[Array, "... agent"]) -> Normal:
        """For everybody, from all there is; anything where nobody is."""
        rows = all_rows(whole, self.attention.features)
        found = self.attention.of_agents(rows, present.shape[-1])
        return Normal.bounded(self.to_mean(found), self.to_log_variance(found))


class CoachMixer(EntityMixer):
    """A mixer that reads what the coach makes of every agent: one attention serves both."""

    to_mean: Dense
    to_log_variance: Dense
    recogniser: Mlp

    def __init__(self, key: PRNGKeyArray, inputs: CriticInputs, settings: CriticSettings) -> None:
        assert inputs.entities is not None
        assert inputs.coach is not None, "a coach is built for what it says"
        super().__init__(key, inputs, settings)
        # Its own two keys are taken, so that the mixer begins as one without a coach.
        mean_key, variance_key, recogniser_key = jax.random.split(jax.random.fold_in(key, 2), 3)
        found, told = 2 * inputs.entities.width, inputs.coach.width
        self.to_mean, self.to_log_variance = (Dense(one, found, told) for one in (mean_key, variance_key))
        widths = (inputs.features + inputs.actions + found, inputs.features, 2 * told)
        self.recogniser = Mlp(recogniser_key, widths, inputs.activation)

    @property
    def coach(self) -> Coach:
        return Coach(self.attention, self.to_mean, self.to_log_variance)

    def recognised(
        self,
        remembered: Float[Array, "... agent h"],
        actions: Float[Array, "... agent action"],
        whole: Float[Array, "... state"],
    ) -> Normal:
        """q(z_i | h_i, a_i, x_i): what an agent may have been told, from what it knows and does where it is.

        Neither the agent nor the coach's attention learns to be recognised: what is told does.
        """
        rows = all_rows(whole, self.attention.features)
        where = self.attention.of_agents(rows, remembered.shape[-2])
        known = jax.lax.stop_gradient(jnp.concatenate([remembered, actions, where], axis=-1))
        return Normal.bounded(*jnp.split(self.recogniser(known), 2, axis=-1))


def surprise(recognised: Normal, told: Float[Array, "... number"]) -> Float[Array, "..."]:
    """−log q(z_i), within the original's bounds."""
    return -jnp.clip(recognised.log_density(told), LEAST_LIKELY, 0)
