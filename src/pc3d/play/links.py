"""Which links between agents are lost in an episode: drawn from its key, so that learning knows them, too."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, Key, PRNGKeyArray

from pc3d.experiment.execution import LinkLoss
from pc3d.tasks.arrays import AnyArray

LINK_DRAWS = 0x114C5  # folded into the key of an episode


def teammates_heard(links: Bool[AnyArray, "... agent agent"]) -> Int[Array, "... agent"]:
    """By everybody who is there, which hears itself, too."""
    return jnp.sum(links, axis=-1) - 1


def links_kept(
    loss: LinkLoss, keys: Key[Array, " episode"], slots: int, horizon: int
) -> Bool[Array, "time episode agent agent"] | None:
    """Who can hear whom, wherever they are; None where nothing is lost."""
    if loss.share == 0:
        return None
    return jax.vmap(lambda key: _of_one(loss, key, slots, horizon), out_axes=1)(keys)


def _of_one(loss: LinkLoss, key: PRNGKeyArray, slots: int, horizon: int) -> Bool[Array, "time agent agent"]:
    renewal_key, loss_key = jax.random.split(jax.random.fold_in(key, LINK_DRAWS))
    moments = jnp.arange(horizon)
    renewed = jax.random.uniform(renewal_key, (horizon,)) < loss.renewal
    latest = jax.lax.cummax(jnp.where(renewed, moments, 0))

    def chances(one: Array, other: Array) -> Array:
        # Pair by pair, so that a wider world changes no draw.
        return jax.random.uniform(jax.random.fold_in(jax.random.fold_in(loss_key, one), other), (horizon,))

    agents = jnp.arange(slots)
    lost = jax.vmap(jax.vmap(chances, (None, 0), 1), (0, None), 1)(agents, agents) < loss.share
    lost = (lost | jnp.swapaxes(lost, 1, 2)) & (agents[:, None] != agents)
    return ~lost[latest]
