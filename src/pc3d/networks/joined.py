"""Two actors as one: what an actor and the student that tells its head something leave in the end."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from pc3d.networks.actor import Actor
from pc3d.networks.conditioning import PlainHead
from pc3d.networks.layers import Dense, Gru, Mlp

GATES = 3  # of a recurrent layer, whose outputs come gate by gate


def joined(actor: Actor, student: Actor) -> Actor:
    """One plain actor that says what an actor does whose head is told what its student says.

    Both encoders and memories are blocks of one, and the student's last layer becomes a part of the head. So
    whatever plays, scores or exports an actor does so with this one.
    """
    assert isinstance(actor.conditioning, PlainHead)
    assert isinstance(student.conditioning, PlainHead)
    own, told = actor.conditioning.head, student.conditioning.head
    features = actor.memory.width
    of_features, of_told = own.weight[:features], own.weight[features:]
    head = _dense(own, jnp.concatenate([of_features, told.weight @ of_told]), own.bias + told.bias @ of_told)
    parts = (_encoders(actor.encoder, student.encoder), _memories(actor.memory, student.memory), head)
    return eqx.tree_at(lambda one: (one.encoder, one.memory, one.conditioning.head), actor, parts)


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
