"""The teacher inside PC3D's critic: the team read into coordination tokens, and back into contexts."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from pc3d.experiment.network_settings import CriticSettings
from pc3d.networks.layers import Activation, Mlp
from pc3d.tasks.arrays import AnyArray


class Reading(eqx.Module):
    """How the teacher reads a team, at each moment."""

    over_agents: Float[AnyArray, "... agent token"]
    """Each token's attention; those of one token add up to 1."""
    tokens: Float[AnyArray, "... token embedding"]
    over_tokens: Float[AnyArray, "... agent token"]
    """Each agent's attention; those of one agent add up to 1."""
    contexts: Float[AnyArray, "... agent embedding"]


class Teacher(eqx.Module):
    """Both attentions are single-head with identity projections, as the paper has them."""

    encoder: Mlp
    queries: Float[Array, "token embedding"]
    normalise: bool = eqx.field(static=True)
    normalise_contexts: bool = eqx.field(static=True)
    compare_normalised: bool = eqx.field(static=True)
    sharpness: float = eqx.field(static=True)

    def __init__(
        self, key: PRNGKeyArray, observation: int, settings: CriticSettings, activation: Activation
    ) -> None:
        encoder_key, query_key = jax.random.split(key)
        self.encoder = set_encoder(encoder_key, observation, settings, activation)
        self.normalise = settings.normalise_encodings
        self.normalise_contexts = settings.normalise_contexts
        self.compare_normalised, self.sharpness = settings.normalise_similarity, settings.sharpness
        self.queries = jax.random.normal(query_key, (settings.tokens, settings.set_embed_dim))

    def encodings(self, observations: Float[Array, "... observation"]) -> Float[Array, "... embedding"]:
        """e_i = φ(o_i), normalised if so set."""
        return encoded(self.encoder, observations, normalise=self.normalise)

    def tokens(
        self, encodings: Float[Array, "... agent embedding"], present: Bool[Array, "... agent"]
    ) -> tuple[Float[Array, "... token embedding"], Float[Array, "... agent token"]]:
        """z_k = Σ_j softmax_j(q_k · e_j / √d) e_j, over the active agents; and the attention."""
        compared = self._compared(encodings)
        similarity = compared @ self._compared(self.queries).T * self._scale(encodings)
        attention = jax.nn.softmax(jnp.where(present[..., None], similarity, -jnp.inf), axis=-2)
        return jnp.einsum("...nk,...nd->...kd", attention, encodings), attention

    def _compared(self, vectors: Float[Array, "... embedding"]) -> Float[Array, "... embedding"]:
        return jax.nn.standardize(vectors) if self.compare_normalised else vectors

    def _scale(self, vectors: Float[Array, "... embedding"]) -> Float[Array, ""]:
        return self.sharpness / jnp.sqrt(vectors.shape[-1])

    def read(
        self, observations: Float[Array, "... agent observation"], present: Bool[Array, "... agent"]
    ) -> Reading:
        """c_i = Σ_k softmax_k(e_i · z_k / √d) z_k: each agent's own reading of the tokens."""
        # What stands in slots that nobody fills cannot matter.
        encodings = self.encodings(jnp.where(present[..., None], observations, 0))
        tokens, over_agents = self.tokens(encodings, present)
        similarity = jnp.einsum("...nd,...kd->...nk", self._compared(encodings), self._compared(tokens))
        over_tokens = jax.nn.softmax(similarity * self._scale(encodings), axis=-1)
        contexts = jnp.einsum("...nk,...kd->...nd", over_tokens, tokens)
        if self.normalise_contexts:
            contexts = jax.nn.standardize(contexts)
        return Reading(over_agents, tokens, over_tokens, contexts)


def set_encoder(key: PRNGKeyArray, observation: int, settings: CriticSettings, activation: Activation) -> Mlp:
    """φ, the same for all agents."""
    return Mlp(key, (observation, *settings.set_encoder_widths, settings.set_embed_dim), activation)


def encoded(
    encoder: Mlp, observations: Float[Array, "... observation"], *, normalise: bool
) -> Float[Array, "... embedding"]:
    """What a set encoder makes of observations."""
    encodings = encoder(observations)
    return jax.nn.standardize(encodings) if normalise else encodings


def averaged(average: Teacher | None, teacher: Teacher | None, rate: float) -> Teacher | None:
    """The average a little nearer to the learning teacher: the paper's EMA with rate τ.

    Not `optax.incremental_update`, which rounds otherwise: no recorded run would be made again to the bit.
    """
    return jax.tree.map(lambda old, new: old + rate * (new - old), average, teacher)
