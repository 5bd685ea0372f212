"""Actions as critics take them: a 1 for what an agent does, drawn from a policy, with or without a slope."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from pc3d.play.episode import Episode


def gumbel_noise(
    key: PRNGKeyArray, episodes: Episode, actions: int
) -> Float[Array, "episode moment agent action"]:
    """What makes the largest logit a draw from the policy.

    Drawn slot by slot (JAX numbers the draws along the last axis), so that wider padding changes none.
    """
    count, moments, slots = episodes.present.shape
    return jnp.moveaxis(jax.random.gumbel(key, (slots, count, moments, actions)), 0, 2)


def best(logits: Float[Array, "... action"]) -> Float[Array, "... action"]:
    """The likeliest action."""
    return jax.nn.one_hot(jnp.argmax(logits, axis=-1), logits.shape[-1])


def sampled(
    logits: Float[Array, "... action"], noise: Float[Array, "... action"]
) -> Float[Array, "... action"]:
    """An action that is as likely as the policy says."""
    return best(logits + noise)


def straight_through(
    logits: Float[Array, "... action"], noise: Float[Array, "... action"], softness: float
) -> Float[Array, "... action"]:
    """The same action, with the slope of the softmax that would have it for its limit."""
    soft = jax.nn.softmax((logits + noise) / softness)
    return soft + jax.lax.stop_gradient(sampled(logits, noise) - soft)
