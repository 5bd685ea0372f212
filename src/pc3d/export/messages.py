"""Rounds of messages as ONNX operators: the rows of a batch are one team, and `links` says who hears whom."""

import numpy as np

from pc3d.export.graph_builder import GraphBuilder
from pc3d.export.plain_actor import PlainActor
from pc3d.networks.layers import NO_WEIGHT

LINKS = "links"  # a further input, of a policy that sends messages


def talk(graph: GraphBuilder, actor: PlainActor, features: str) -> str:
    """`networks.talking_actor.Rounds`, round by round."""
    scale = graph.constant("attention_scale", np.array(actor.memory_width**-0.5, np.float32))
    unheard = graph.constant("unheard", np.array(NO_WEIGHT, np.float32))
    for _ in range(actor.network.rounds or 0):
        query, key, value = (graph.dense(f"rounds.to_{part}", features) for part in ("query", "key", "value"))
        scores = graph.apply("Mul", graph.apply("MatMul", query, graph.apply("Transpose", key)), scale)
        weights = graph.apply("Softmax", graph.apply("Where", LINKS, scores, unheard), axis=1)
        together = graph.apply("Concat", features, graph.apply("MatMul", weights, value), axis=1)
        features = graph.activate(actor.network.activation, graph.dense("rounds.update", together))
    return features
