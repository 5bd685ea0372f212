"""An actor that is told something by a coach now and then, and keeps it until it is told something else."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from pc3d.experiment.algorithm_settings import CoachSettings
from pc3d.networks.actor import Actor
from pc3d.networks.coach import Coach
from pc3d.networks.conditioning import PolicyOutput
from pc3d.networks.layers import ACTIVATIONS, HIDDEN_GAIN, Activation, Dense


class CoachedActor(Actor):
    """Q(a | own history, what it was told): head(σ(L [h_i; z_i]))."""

    listening: Dense
    activation: Activation = eqx.field(static=True)
    every: int = eqx.field(static=True)
    """Steps from one broadcast to the next, as it was trained."""
    coach: Coach | None
    """Who tells it, in a policy; while it learns the coach is a part of the mixer."""

    def __init__(self, key: PRNGKeyArray, alone: Actor, settings: CoachSettings) -> None:
        """An actor, that listens besides."""
        self.encoder, self.memory, self.conditioning = alone.encoder, alone.memory, alone.conditioning
        self.values_actions, self.squashing = alone.values_actions, alone.squashing
        width = alone.memory.width
        self.listening = Dense(key, width + settings.width, width, HIDDEN_GAIN)
        self.activation, self.every, self.coach = alone.encoder.activation, settings.every, None

    @property
    def told_width(self) -> int:
        return self.listening.weight.shape[-2] - self.memory.width

    def says_told(self, features: Float[Array, "... h"], told: Float[Array, "... number"]) -> PolicyOutput:
        """What to do, from what is remembered and what the coach said."""
        together = jnp.concatenate([features, told], axis=-1)
        return self.conditioning(ACTIVATIONS[self.activation](self.listening(together)))

    def says(self, features: Float[Array, "... h"]) -> PolicyOutput:
        """What it would do if nobody had ever told it anything."""
        return self.says_told(features, jnp.zeros((*features.shape[:-1], self.told_width)))


def with_coach(actor: CoachedActor, coach: Coach) -> CoachedActor:
    """What acts: whoever is told something, and who tells it."""
    return eqx.tree_at(lambda one: one.coach, actor, coach, is_leaf=lambda leaf: leaf is None)
