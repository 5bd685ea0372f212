"""The three layers everything is made of. All leaves are arrays, so plain `jax.jit` and `grad` serve."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Literal, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

Activation = Literal["relu", "tanh"]
ACTIVATIONS: dict[Activation, Callable[[Array], Array]] = {"relu": jax.nn.relu, "tanh": jnp.tanh}
HIDDEN_GAIN = 2**0.5
NO_WEIGHT = -1e30  # a score whose share of a softmax is exactly 0, also where nothing else has one
Network = TypeVar("Network")


class Dense(eqx.Module):
    """A linear layer with orthogonal weights, over the last axis of anything."""

    weight: Float[Array, "input output"]
    bias: Float[Array, " output"]

    def __init__(self, key: PRNGKeyArray, inputs: int, outputs: int, gain: float = 1.0) -> None:
        self.weight = _orthogonal(key, (inputs, outputs), gain)
        self.bias = jnp.zeros(outputs)

    def __call__(self, inputs: Float[Array, "... input"]) -> Float[Array, "... output"]:
        # As one matrix: the weights' gradient is then a product of what is there, without transposed copies.
        flat = inputs.reshape(-1, inputs.shape[-1]) @ self.weight + self.bias
        return flat.reshape(*inputs.shape[:-1], -1)


@partial(jax.jit, static_argnums=(1, 2))  # one program a shape; step by step a run would begin seconds later
def _orthogonal(key: PRNGKeyArray, shape: tuple[int, int], gain: float) -> Float[Array, "input output"]:
    return jax.nn.initializers.orthogonal(gain)(key, shape)


class Mlp(eqx.Module):
    """Dense layers with an activation between them, and after the last one if asked."""

    layers: tuple[Dense, ...]
    activation: Activation = eqx.field(static=True)
    activate_output: bool = eqx.field(static=True)

    def __init__(
        self,
        key: PRNGKeyArray,
        widths: tuple[int, ...],
        activation: Activation,
        *,
        activate_output: bool = False,
        output_gain: float = 1.0,
    ) -> None:
        """`widths` runs from the input to the output."""
        self.activation, self.activate_output = activation, activate_output
        gains = [HIDDEN_GAIN] * (len(widths) - 2) + [HIDDEN_GAIN if activate_output else output_gain]
        keys = jax.random.split(key, len(gains))
        self.layers = tuple(
            Dense(key, *shape, gain) for key, shape, gain in zip(keys, pairwise(widths), gains, strict=True)
        )

    @property
    def inputs(self) -> int:
        """How many numbers it reads."""
        return self.layers[0].weight.shape[-2]

    def __call__(self, inputs: Float[Array, "... input"]) -> Float[Array, "... output"]:
        activate = ACTIVATIONS[self.activation]
        for layer in self.layers[:-1]:
            inputs = activate(layer(inputs))
        output = self.layers[-1](inputs)
        return activate(output) if self.activate_output else output


class Gru(eqx.Module):
    """A gated recurrent unit whose input half is one matrix product over the whole sequence."""

    from_input: Dense
    from_memory: Dense

    def __init__(self, key: PRNGKeyArray, inputs: int, width: int) -> None:
        input_key, memory_key = jax.random.split(key)
        self.from_input = Dense(input_key, inputs, 3 * width)
        self.from_memory = Dense(memory_key, width, 3 * width)

    @property
    def width(self) -> int:
        return self.from_memory.weight.shape[-2]

    def step(self, memory: Float[Array, "... h"], inputs: Float[Array, "... input"]) -> Float[Array, "... h"]:
        """One moment of play."""
        return _gates(self.from_input(inputs), self.from_memory(memory), memory).memory

    def over_time(
        self,
        memory: Float[Array, "*rows h"],
        inputs: Float[Array, "time *rows input"],
        fresh: Bool[Array, " time *rows"] | None = None,
    ) -> Float[Array, "time *rows h"]:
        """The memory after each moment of a sequence; where `fresh`, that moment starts from nothing."""
        # Kept is a number, so that what is not kept is a product: in both directions, as in the derivative.
        kept = None if fresh is None else (~fresh)[..., None].astype(inputs.dtype)
        return _recur(self.from_memory.weight, self.from_memory.bias, memory, self.from_input(inputs), kept)


def drawn_uniformly(key: PRNGKeyArray, network: Network) -> Network:
    """The network with every dense layer as PyTorch makes it: weights and biases within ±1/√inputs."""
    parts, structure = jax.tree.flatten(network, is_leaf=lambda part: isinstance(part, Dense))
    keys = jax.random.split(key, len(parts))
    drawn = [
        _uniform(key, part) if isinstance(part, Dense) else part
        for key, part in zip(keys, parts, strict=True)
    ]
    return jax.tree.unflatten(structure, drawn)


def _uniform(key: PRNGKeyArray, layer: Dense) -> Dense:
    weight_key, bias_key = jax.random.split(key)
    reach = layer.weight.shape[-2] ** -0.5
    weight = jax.random.uniform(weight_key, layer.weight.shape, minval=-reach, maxval=reach)
    bias = jax.random.uniform(bias_key, layer.bias.shape, minval=-reach, maxval=reach)
    return eqx.tree_at(lambda layer: (layer.weight, layer.bias), layer, (weight, bias))


class _Gates(eqx.Module):
    """The inside of one step, kept for the backward pass."""

    reset: Array
    keep: Array
    candidate: Array
    recurrent_candidate: Array
    memory: Array


def _gates(from_input: Array, from_memory: Array, memory: Array) -> _Gates:
    input_reset, input_keep, input_candidate = jnp.split(from_input, 3, axis=-1)
    memory_reset, memory_keep, memory_candidate = jnp.split(from_memory, 3, axis=-1)
    reset = jax.nn.sigmoid(input_reset + memory_reset)
    keep = jax.nn.sigmoid(input_keep + memory_keep)
    candidate = jnp.tanh(input_candidate + reset * memory_candidate)
    return _Gates(reset, keep, candidate, memory_candidate, candidate + keep * (memory - candidate))


# The derivative is written out because the automatic one adds up the weights' gradient inside the loop,
# one small product per moment; here it is a single product over the whole sequence. And whatever does not
# depend on what comes later is computed for all moments at once: the loops are left with little but products.
@jax.custom_vjp
def _recur(weight: Array, bias: Array, memory: Array, from_input: Array, kept: Array | None) -> Array:
    return _recur_forward(weight, bias, memory, from_input, kept)[0]


Saved = tuple[Array, Array, _Gates, Array | None]


def _recur_forward(
    weight: Array, bias: Array, memory: Array, from_input: Array, kept: Array | None
) -> tuple[Array, Saved]:
    def moment(memory: Array, now: tuple[Array, Array | None]) -> tuple[Array, _Gates]:
        from_input, kept = now
        memory = memory if kept is None else memory * kept
        gates = _gates(from_input, memory @ weight + bias, memory)
        return gates.memory, gates

    _, gates = jax.lax.scan(moment, memory, (from_input, kept))
    return gates.memory, (weight, memory, gates, kept)


def _recur_backward(
    saved: Saved, gradients: Float[Array, "time *rows h"]
) -> tuple[Array, Array, Array, Array, Array | None]:
    weight, first_memory, gates, kept = saved
    before = jnp.concatenate([first_memory[None], gates.memory[:-1]])
    before = before if kept is None else before * kept
    # How the gradient at a moment reaches reset, keep and candidate, before their activations.
    to_candidate = (1 - gates.keep) * (1 - gates.candidate**2)
    to_keep = (before - gates.candidate) * gates.keep * (1 - gates.keep)
    to_reset = to_candidate * gates.recurrent_candidate * gates.reset * (1 - gates.reset)
    slopes = jnp.stack([to_reset, to_keep, to_candidate * gates.reset], axis=-2)

    back = weight.T

    def moment(later: Array, now: tuple[Array, Array, Array, Array | None]) -> tuple[Array, Array]:
        gradient, slope, keep, kept = now
        total = gradient + later
        to_memory = (total[..., None, :] * slope).reshape(*total.shape[:-1], -1)
        to_before = total * keep + to_memory @ back
        return to_before if kept is None else to_before * kept, total

    start = jnp.zeros_like(first_memory)
    to_first, totals = jax.lax.scan(moment, start, (gradients, slopes, gates.keep, kept), reverse=True)
    width = first_memory.shape[-1]
    to_memory = totals[..., None, :] * slopes
    to_input = jnp.concatenate([totals * to_reset, totals * to_keep, totals * to_candidate], axis=-1)
    flat_memory, flat_gradient = before.reshape(-1, width), to_memory.reshape(-1, 3 * width)
    # Who is there is data: nothing asks for its gradient.
    to_kept = None if kept is None else jnp.zeros_like(kept)
    return flat_memory.T @ flat_gradient, flat_gradient.sum(0), to_first, to_input, to_kept


_recur.defvjp(_recur_forward, _recur_backward)
