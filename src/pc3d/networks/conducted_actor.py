"""SOG's actor: it has a message for its group, and listens to what comes back from the group's conductor."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from pc3d.experiment.algorithm_settings import ConductingSettings
from pc3d.networks.actor import Actor
from pc3d.networks.entity_attention import EntityEncoder
from pc3d.networks.layers import Dense
from pc3d.networks.listening_actor import ListeningActor
from pc3d.networks.normal import Normal

LOG_DEVIATIONS = (-10.0, 0.5)  # the original's bounds, which are soft


class ConductedActor(ListeningActor):
    """Listens to its group; and has something to say to it."""

    to_message: Dense
    to_foresight: Dense
    conducting: ConductingSettings = eqx.field(static=True)

    def __init__(self, key: PRNGKeyArray, alone: Actor, settings: ConductingSettings) -> None:
        assert isinstance(alone.encoder, EntityEncoder), "messages are made of what attention finds"
        listening_key, message_key, foresight_key = jax.random.split(key, 3)
        super().__init__(listening_key, alone, settings.width)
        found, numbers = 2 * alone.encoder.attention.encoder.bias.shape[-1], 2 * settings.width
        self.to_message = Dense(message_key, found, numbers)
        self.to_foresight = Dense(foresight_key, found + alone.memory.width, numbers)
        self.conducting = settings

    def message(self, seen: Float[Array, "... observation"]) -> Normal:
        """What it has to say, from what attention finds in its view."""
        return softly_bounded(self.to_message(self._found(seen)))

    def foretold(self, seen: Float[Array, "... observation"], remembered: Float[Array, "... h"]) -> Normal:
        """What its last message must have been, from what it has come to know since."""
        return softly_bounded(self.to_foresight(jnp.concatenate([self._found(seen), remembered], axis=-1)))

    def _found(self, seen: Float[Array, "... observation"]) -> Float[Array, "... twice"]:
        assert isinstance(self.encoder, EntityEncoder)
        return self.encoder.found(seen)


def softly_bounded(said: Float[Array, "... twice"]) -> Normal:
    """A mean of any sign, and a spread within bounds beyond which its slope fades.

    The original's, but for a rectifier before both, which leaves no mean below zero and hardly any spread.
    """
    mean, raw = jnp.split(said, 2, axis=-1)
    low, high = LOG_DEVIATIONS
    below = high - jax.nn.softplus(high - raw)
    return Normal(mean, 2 * (low + jax.nn.softplus(below - low)))
