"""From logits and uniform draws to actions."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int


def choose(
    logits: Float[Array, "... action"], chances: Float[Array, "..."], *, greedy: bool = False
) -> tuple[Int[Array, "..."], Float[Array, "..."]]:
    """The action each draw stands for (or the likeliest), and its log-probability."""
    log_probabilities = jax.nn.log_softmax(logits)
    if greedy:
        actions = jnp.argmax(logits, axis=-1)
    else:
        passed = chances[..., None] >= jnp.cumsum(jnp.exp(log_probabilities), axis=-1)
        # Rounding can leave the last sum a little below 1, and a draw above it.
        actions = jnp.minimum(jnp.sum(passed, axis=-1), logits.shape[-1] - 1)
    return actions, of_action(log_probabilities, actions)


def of_action(values: Float[Array, "... action"], actions: Int[Array, "..."]) -> Float[Array, "..."]:
    """The entry of the action taken; a comparison, because gathers are slow to differentiate on a CPU."""
    taken = actions[..., None] == jnp.arange(values.shape[-1])
    return jnp.sum(jnp.where(taken, values, 0), axis=-1)
