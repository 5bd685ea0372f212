"""The decentralized actor: dense layers, a memory, and a (conditioned) policy head, shared by all agents.

It sees one agent's observations and nothing else; all that is central stays in the critics.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from pc3d.experiment.network_settings import ActorSettings
from pc3d.networks.conditioning import Conditioning, PolicyOutput
from pc3d.networks.entity_attention import EntityEncoder, EntityInputs
from pc3d.networks.layers import Activation, Gru, Mlp
from pc3d.networks.squashing import Squashing


class Actor(eqx.Module):
    """π(a | own history)."""

    encoder: Mlp
    memory: Gru
    context_memory: Gru | None
    conditioning: Conditioning
    values_actions: bool = eqx.field(static=True)
    """Whether it says what actions are worth, and always takes the best, or how likely it takes them."""
    squashing: Squashing | None
    """How what it says becomes real numbers within bounds; None where it chooses among named actions."""

    def __init__(
        self,
        key: PRNGKeyArray,
        observation: int,
        settings: ActorSettings,
        activation: Activation,
        conditioning: Conditioning,
        *,
        values_actions: bool = False,
        squashing: Squashing | None = None,
        entities: EntityInputs | None = None,
    ) -> None:
        encoder_key, memory_key = jax.random.split(key)
        widths = (observation, *settings.widths)
        if entities is None:
            self.encoder = Mlp(encoder_key, widths, activation, activate_output=True)
        else:
            self.encoder = EntityEncoder(encoder_key, entities, widths, activation)
        self.memory = Gru(memory_key, widths[-1], settings.rnn_dim)
        own = settings.context_rnn_dim
        self.context_memory = Gru(jax.random.fold_in(memory_key, 1), widths[-1], own) if own else None
        self.conditioning, self.values_actions = conditioning, values_actions
        self.squashing = squashing

    def first_memory(self, *rows: int) -> Float[Array, "*rows h"]:
        """What an agent remembers before it has seen anything."""
        own = 0 if self.context_memory is None else self.context_memory.width
        return jnp.zeros((*rows, self.memory.width + own))

    def step(
        self, memory: Float[Array, "... h"], observation: Float[Array, "... observation"]
    ) -> tuple[Float[Array, "... h"], PolicyOutput]:
        """One moment of play: new memory and what to do."""
        memory = self.recall(memory, observation)
        return memory, self.says(memory)

    def recall(
        self, memory: Float[Array, "... h"], observation: Float[Array, "... observation"]
    ) -> Float[Array, "... h"]:
        """What is remembered after one more observation."""
        seen = self.encoder(observation)
        if self.context_memory is None:
            return self.memory.step(memory, seen)
        first, own = memory[..., : self.memory.width], memory[..., self.memory.width :]
        return jnp.concatenate(
            [self.memory.step(first, seen), self.context_memory.step(own, seen)], axis=-1
        )

    def says(self, features: Float[Array, "... h"]) -> PolicyOutput:
        """What to do, from what is remembered."""
        return self.conditioning(features)

    def remember(
        self,
        memory: Float[Array, "*rows h"],
        observations: Float[Array, "time *rows observation"],
        fresh: Bool[Array, " time *rows"] | None = None,
    ) -> Float[Array, "time *rows h"]:
        """The recurrent features at every moment of a sequence; where `fresh`, from nothing.

        All rows at once, because one large matrix product is far faster than many small ones.
        """
        seen = self.encoder(observations)
        if self.context_memory is None:
            return self.memory.over_time(memory, seen, fresh)
        first, own = memory[..., : self.memory.width], memory[..., self.memory.width :]
        return jnp.concatenate(
            [self.memory.over_time(first, seen, fresh), self.context_memory.over_time(own, seen, fresh)],
            axis=-1,
        )

    def over_episodes(
        self,
        observations: Float[Array, "episode moment agent observation"],
        fresh: Bool[Array, "episode moment agent"] | None = None,
        first_memory: Float[Array, "episode agent h"] | None = None,
    ) -> Float[Array, "episode moment agent h"]:
        """The same of whole episodes, which begin from nothing, or of parts that begin with a memory."""
        episodes, _, agents, _ = observations.shape
        by_time = jnp.moveaxis(observations, 1, 0)
        fresh_by_time = None if fresh is None else jnp.moveaxis(fresh, 1, 0)
        first = self.first_memory(episodes, agents) if first_memory is None else first_memory
        return jnp.moveaxis(self.remember(first, by_time, fresh_by_time), 0, 1)
