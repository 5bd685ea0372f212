"""Two actors as one: both encoders and memories are blocks of one, and one head reads what both remember.

So whatever plays, scores or exports an actor does so with two that act together.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pc3d.networks.actor import Actor
from pc3d.networks.conditioning import PlainHead
from pc3d.networks.layers import Dense, Gru, Mlp

GATES = 3  # of a recurrent layer, whose outputs come gate by gate


def joined(actor: Actor, student: Actor) -> Actor:
    """One plain actor that says what an actor does whose head is told what its student says.

    The student's last layer becomes a part of the head.
    """
    own, told = head_of(actor), head_of(student)
    features = actor.memory.width
    of_features, of_told = own.weight[:features], own.weight[features:]
    weight, bias = jnp.concatenate([of_features, told.weight @ of_told]), own.bias + told.bias @ of_told
    return with_blocks(actor, student, weight, bias)


def with_blocks(
    actor: Actor, other: Actor, weight: Float[Array, "both said"], bias: Float[Array, " said"]
) -> Actor:
    """The first actor, which remembers what the other one does, too; its head reads its own part first."""
    head = _dense(head_of(actor), weight, bias)
    parts = (_encoders(actor.encoder, other.encoder), _memories(actor.memory, other.memory), head)
    return eqx.tree_at(lambda one: (one.encoder, one.memory, one.conditioning.head), actor, parts)


def head_of(actor: Actor) -> Dense:
    """The last layer of an actor without a context."""
    assert isinstance(actor.conditioning, PlainHead)
    return actor.conditioning.head


def _encoders(one: Mlp, other: Mlp) -> Mlp:
    """Both see the same; after the first layer each goes on by itself."""
    (first, *later), (other_first, *other_later) = one.layers, other.layers
    weight = jnp.concatenate([first.weight, other_first.weight], axis=1)
    layers = (
        _dense(first, weight, jnp.concatenate([first.bias, other_first.bias])),
        *(_blocks(*pair, gates=1) for pair in zip(later, other_later, strict=True)),
    )
    return eqx.tree_at(lambda mlp: mlp.layers, one, layers)


def _memories(one: Gru, other: Gru) -> Gru:
    parts = (
        _blocks(one.from_input, other.from_input, gates=GATES),
        _blocks(one.from_memory, other.from_memory, gates=GATES),
    )
    return eqx.tree_at(lambda gru: (gru.from_input, gru.from_memory), one, parts)


def _blocks(one: Dense, other: Dense, *, gates: int) -> Dense:
    """Two layers as one; the outputs of a recurrent one come gate by gate."""
    weights = zip(*(jnp.split(layer.weight, gates, axis=1) for layer in (one, other)), strict=True)
    biases = zip(*(jnp.split(layer.bias, gates) for layer in (one, other)), strict=True)
    weight = jnp.concatenate([jax.scipy.linalg.block_diag(*pair) for pair in weights], axis=1)
    return _dense(one, weight, jnp.concatenate([part for pair in biases for part in pair]))


def _dense(like: Dense, weight: Array, bias: Array) -> Dense:
    return eqx.tree_at(lambda layer: (layer.weight, layer.bias), like, (weight, bias))
