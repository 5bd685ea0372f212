"""Attention over entities, of which there may be any number, in any order: for utilities and for a mixer.

An entity that is masked has exactly no weight, and one that is not there could hold anything.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from pc3d.networks.layers import ACTIVATIONS, HIDDEN_GAIN, NO_WEIGHT, Activation, Dense, Mlp
from pc3d.tasks.entity_rows import Rows, unpacked


class EntityInputs(eqx.Module):
    """The sizes that attention over entities is built for."""

    features: int = eqx.field(static=True)
    """Numbers of an entity."""
    width: int = eqx.field(static=True)
    heads: int = eqx.field(static=True)


class EntityAttention(eqx.Module):
    """a_i = Σ_j α_ij V e_j with e_j = σ(E x_j) and α_ij ∝ exp(Q e_i · K e_j / √d), by heads."""

    encoder: Dense
    to_query: Dense
    to_key: Dense
    to_value: Dense
    heads: int = eqx.field(static=True)
    activation: Activation = eqx.field(static=True)

    def __init__(self, key: PRNGKeyArray, inputs: EntityInputs, activation: Activation) -> None:
        encoder_key, *keys = jax.random.split(key, 4)
        self.encoder = Dense(encoder_key, inputs.features, inputs.width, HIDDEN_GAIN)
        self.to_query, self.to_key, self.to_value = (Dense(one, inputs.width, inputs.width) for one in keys)
        self.heads, self.activation = inputs.heads, activation

    @property
    def features(self) -> int:
        return self.encoder.weight.shape[-2]

    def encodings(self, features: Float[Array, "... feature"]) -> Float[Array, "... width"]:
        return ACTIVATIONS[self.activation](self.encoder(features))

    def of_agents(
        self, rows: Rows, agents: int, attended: Bool[Array, "... #agent entity"] | None = None
    ) -> Float[Array, "... agent twice"]:
        """[e_i; a_i] over all rows, or some; the first rows are the agents, anything where nobody is."""
        if attended is None:
            attended = rows.numbers[..., None, :] != 0
        encodings = self.encodings(rows.features)
        shape = (*rows.numbers.shape[:-1], agents, rows.numbers.shape[-1])
        return self(encodings[..., :agents, :], encodings, jnp.broadcast_to(attended, shape))

    def __call__(
        self,
        readers: Float[Array, "... reader width"],
        encodings: Float[Array, "... entity width"],
        attended: Bool[Array, "... reader entity"],
    ) -> Float[Array, "... reader twice"]:
        """[e_i; a_i] of every reader; the first entities are the readers, and who sees none sees itself."""
        own = jnp.eye(readers.shape[-2], encodings.shape[-2], dtype=bool)
        attended = attended | (own & ~jnp.any(attended, axis=-1, keepdims=True))
        queries, keys, values = (
            part.reshape(*part.shape[:-1], self.heads, -1)
            for part in (self.to_query(readers), self.to_key(encodings), self.to_value(encodings))
        )
        scores = jnp.einsum("...ihd,...jhd->...hij", queries, keys) / queries.shape[-1] ** 0.5
        weights = jax.nn.softmax(jnp.where(attended[..., None, :, :], scores, NO_WEIGHT), axis=-1)
        heard = jnp.einsum("...hij,...jhd->...ihd", weights, values)
        return jnp.concatenate([readers, heard.reshape(readers.shape)], axis=-1)


class EntityEncoder(Mlp):
    """What an agent makes of the entities it sees, itself the first of them; then an actor's dense layers."""

    attention: EntityAttention
    observation: int = eqx.field(static=True)
    """Numbers of all rows together."""

    def __init__(
        self, key: PRNGKeyArray, inputs: EntityInputs, widths: tuple[int, ...], activation: Activation
    ) -> None:
        attention_key, layers_key = jax.random.split(key)
        observation, *layers = widths
        super().__init__(layers_key, (2 * inputs.width, *layers), activation, activate_output=True)
        self.attention, self.observation = EntityAttention(attention_key, inputs, activation), observation

    @property
    def inputs(self) -> int:
        return self.observation

    def __call__(self, inputs: Float[Array, "... input"]) -> Float[Array, "... output"]:
        return super().__call__(self.found(inputs))

    def found(self, inputs: Float[Array, "... input"]) -> Float[Array, "... twice"]:
        """[e_i; a_i], before an actor's layers."""
        rows = unpacked(inputs, self.attention.features)
        seen = rows.numbers != 0
        # The agent itself is read even where it is not attended to: it asks.
        read = seen.at[..., 0].set(True)
        encodings = self.attention.encodings(jnp.where(read[..., None], rows.features, 0))
        return self.attention(encodings[..., :1, :], encodings, seen[..., None, :])[..., 0, :]
