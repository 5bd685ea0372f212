"""An actor that is told something now and then, and keeps it until it is told something else."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from pc3d.networks.actor import Actor
from pc3d.networks.conditioning import PolicyOutput
from pc3d.networks.layers import ACTIVATIONS, HIDDEN_GAIN, Activation, Dense


class ListeningActor(Actor):
    """Q(a | own history, what it was told): head(σ(L [h_i; z_i]))."""

    listening: Dense
    activation: Activation = eqx.field(static=True)

    def __init__(self, key: PRNGKeyArray, alone: Actor, width: int) -> None:
        """An actor, that listens to so many numbers besides."""
        self.encoder, self.memory, self.conditioning = alone.encoder, alone.memory, alone.conditioning
        self.values_actions, self.squashing = alone.values_actions, alone.squashing
        remembered = alone.memory.width
        self.listening = Dense(key, remembered + width, remembered, HIDDEN_GAIN)
        self.activation = alone.encoder.activation

    @property
    def told_width(self) -> int:
        return self.listening.weight.shape[-2] - self.memory.width

    def says_told(self, features: Float[Array, "... h"], told: Float[Array, "... number"]) -> PolicyOutput:
        """What to do, from what is remembered and what was said last."""
        together = jnp.concatenate([features, told], axis=-1)
        return self.conditioning(ACTIVATIONS[self.activation](self.listening(together)))

    def says(self, features: Float[Array, "... h"]) -> PolicyOutput:
        """What it would do if nobody had ever told it anything."""
        return self.says_told(features, jnp.zeros((*features.shape[:-1], self.told_width)))
