"""One agent's step as an ONNX graph: the operators of `networks`, in the same order.

(observation, memory) → (action probabilities, next memory, and student context and gate where there are).
Where a task has masks, they come in, too; where an action is real numbers, noise comes in and the action out.
Of a policy that sends messages it is the step of a team: who hears whom comes in as well.
"""

import json
from typing import Any

import numpy as np

from pc3d.experiment.action_space import Box
from pc3d.export.graph_builder import GraphBuilder, Shapes
from pc3d.export.messages import LINKS, talk
from pc3d.export.plain_actor import Network, PlainActor
from pc3d.play.choosing import FORBIDDEN
from pc3d.runs.checkpoint import KEY

MASK, NOISE = "action_mask", "noise"  # further inputs, where a policy needs them


def onnx_model(actor: PlainActor, description: dict[str, Any], *, int8: bool = False) -> bytes:
    """The content of the .onnx file."""
    graph, network = GraphBuilder(actor.weights, int8=int8), actor.network
    encoded = graph.mlp("encoder", network.encoder_layers, network.activation, "observation")
    features = _remember(graph, actor.memory_width, graph.activate(network.activation, encoded))
    if network.rounds:
        features = talk(graph, actor, features)
    logits = _condition(graph, actor, features)
    _decide(graph, actor, logits)
    title = f"one step of one {'team' if network.rounds else 'agent'}"
    model = graph.model(*_interface(actor, int8=int8), title=title)
    model.metadata_props.add(key=KEY, value=json.dumps(description, sort_keys=True))
    return model.SerializeToString(deterministic=True)


def _decide(graph: GraphBuilder, actor: PlainActor, logits: str) -> str:
    """The chances of actions (where they are valued, all of it is the best one's), or the action itself."""
    if actor.network.box is not None:
        return _squash(graph, actor.network.box, logits)
    if actor.network.masked:
        forbidden = graph.constant("forbidden", np.array(FORBIDDEN, np.float32))
        logits = graph.apply("Where", MASK, logits, forbidden)
    if not actor.network.greedy:
        return graph.apply("Softmax", logits, name="action_probabilities", axis=1)
    best = graph.apply("ArgMax", logits, axis=1, keepdims=0)
    count = graph.constant("action_count", np.array(actor.action_count, np.int64))
    chances = graph.constant("never_and_always", np.array([0, 1], np.float32))
    return graph.apply("OneHot", best, count, chances, name="action_probabilities", axis=1)


def _squash(graph: GraphBuilder, box: Box, means: str) -> str:
    """A draw from the normal distribution, squashed into the box, as `networks.squashing` has it."""
    deviation = graph.apply("Exp", graph.weight("squashing.log_deviation"))
    drawn = graph.apply("Add", means, graph.apply("Mul", NOISE, deviation))
    low, high = (np.array(bounds, np.float32) for bounds in (box.low, box.high))
    reached = graph.apply("Mul", graph.apply("Tanh", drawn), graph.constant("half_range", (high - low) / 2))
    action = graph.apply("Add", reached, graph.constant("middle", (high + low) / 2))
    above = graph.apply("Max", action, graph.constant("low", low))
    return graph.apply("Min", above, graph.constant("high", high), name="action")


def _interface(actor: PlainActor, *, int8: bool) -> tuple[Shapes, Shapes, Shapes]:
    """Inputs and outputs of real numbers, and inputs that are true or false."""
    # Eight-bit inputs share one scale per batch: in a batch, agents would change each other's numbers.
    rows: int | str = 1 if int8 else "batch"
    memory = [rows, actor.memory_width]
    inputs: Shapes = {"observation": [rows, actor.observation_width], "memory": memory}
    actions, truths = [rows, actor.action_count], Shapes()
    outputs: Shapes = {"action_probabilities": actions, "next_memory": memory}
    if actor.network.box is not None:
        inputs, outputs = {**inputs, NOISE: actions}, {"action": actions, "next_memory": memory}
    if actor.network.masked:
        truths = {MASK: actions}
    if actor.network.rounds:
        truths = {**truths, LINKS: [rows, rows]}
    if actor.context_width is not None:
        outputs |= {"student_context": [rows, actor.context_width], "gate": [rows, 1]}
    return inputs, outputs, truths


def _remember(graph: GraphBuilder, width: int, encoding: str) -> str:
    """The gated recurrent unit of `networks.layers`."""
    from_input = graph.split(graph.dense("memory.from_input", encoding), [2 * width, width])
    from_memory = graph.split(graph.dense("memory.from_memory", "memory"), [2 * width, width])
    gates = graph.apply("Sigmoid", graph.apply("Add", from_input[0], from_memory[0]))
    reset, keep = graph.split(gates, [width, width])
    recurrent = graph.apply("Mul", reset, from_memory[1])
    candidate = graph.apply("Tanh", graph.apply("Add", from_input[1], recurrent))
    kept = graph.apply("Mul", keep, graph.apply("Sub", "memory", candidate))
    return graph.apply("Add", candidate, kept, name="next_memory")


def _condition(graph: GraphBuilder, actor: PlainActor, features: str) -> str:
    """The logits: of a plain head, or shaped by the student's context as far as the gate lets it."""
    if actor.network.conditioning == "plain":
        return graph.dense("conditioning.head", features)
    context = graph.dense("conditioning.student.to_context", features, name="student_context")
    gate = _gate(graph, actor.network, features)
    if actor.network.conditioning == "film":
        return _film(graph, actor.memory_width, features, context, gate)
    return _hypernetwork(graph, actor, features, context, gate)


def _gate(graph: GraphBuilder, network: Network, features: str) -> str:
    wish = graph.dense("conditioning.student.to_reliance", features)
    if network.gate != "adaptive":
        # Clipped to a single value it is that value, in every row of the batch.
        held = graph.constant("held_gate", np.array(1.0 if network.gate == "on" else 0.0, np.float32))
        return graph.apply("Clip", wish, held, held, name="gate")
    assert network.reliance_range is not None
    names = ("reliance_min", "reliance_max")
    bounds = map(graph.constant, names, np.array(network.reliance_range, np.float32))
    reliance = graph.apply("Clip", wish, *bounds)
    scaled = graph.apply("Mul", reliance, graph.weight("conditioning.student.gate_scale"))
    shifted = graph.apply("Add", scaled, graph.weight("conditioning.student.gate_offset"))
    return graph.apply("Sigmoid", shifted, name="gate")


def _film(graph: GraphBuilder, width: int, features: str, context: str, gate: str) -> str:
    """h (1 + g γ) + g β, written as h + g (h γ + β): the same with fewer operators."""
    scale, shift = graph.split(graph.dense("conditioning.to_modulation", context), [width, width])
    change = graph.apply("Add", graph.apply("Mul", features, scale), shift)
    modulated = graph.apply("Add", features, graph.apply("Mul", gate, change))
    return graph.dense("conditioning.head", modulated)


def _hypernetwork(graph: GraphBuilder, actor: PlainActor, features: str, context: str, gate: str) -> str:
    """The context makes a matrix and a bias for each row of the batch, which are added to the head's."""
    network, width, actions = actor.network, actor.memory_width, actor.action_count
    assert network.hypernetwork_layers is not None
    change = graph.mlp("conditioning.hypernetwork", network.hypernetwork_layers, network.activation, context)
    matrix, bias = graph.split(change, [width * actions, actions])
    matrix = graph.reshape(matrix, [-1, width, actions])
    product = graph.apply("MatMul", graph.reshape(features, [-1, 1, width]), matrix)
    change_of_logits = graph.apply("Add", graph.reshape(product, [-1, actions]), bias)
    gated = graph.apply("Mul", gate, change_of_logits)
    return graph.apply("Add", graph.dense("conditioning.head", features), gated)
