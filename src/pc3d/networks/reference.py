"""A reference: an actor that does not see teammates, and one beside whom another acts on them (MIPI)."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pc3d.networks.actor import Actor
from pc3d.networks.joined import head_of, with_blocks
from pc3d.tasks.split import Split


def blinded(actor: Actor, split: Split) -> Actor:
    """The actor, to whom s⁻ says nothing: its first layer has zeros for it.

    They stay, where it learns from views that have zeros there.
    """
    first = actor.encoder.layers[0].weight
    own = jnp.where(split.of_teammates[:, None], 0, first)
    return eqx.tree_at(lambda one: one.encoder.layers[0].weight, actor, own)


def soft_actor(reference: Actor, utilities: Actor, cost: Float[Array, ""]) -> Actor:
    """π(a) ∝ p(a) exp(Q(a) / α) as one plain actor, that draws from its softmax."""
    usual, worth = head_of(reference), head_of(utilities)
    weight = jnp.concatenate([usual.weight, worth.weight / cost])
    return with_blocks(reference, utilities, weight, usual.bias + worth.bias / cost)
