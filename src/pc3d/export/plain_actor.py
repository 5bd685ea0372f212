"""The actor as named arrays and a few words: what every kind of exported file is made from."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pc3d.experiment.action_space import Box
from pc3d.networks.actor import Actor
from pc3d.networks.conditioning import (
    Conditioning,
    ContextConditioning,
    GatedFilm,
    GateMode,
    HyperHead,
    PlainHead,
)
from pc3d.networks.entity_attention import EntityEncoder
from pc3d.networks.layers import Activation
from pc3d.networks.separate_actors import SeparateActors
from pc3d.networks.talking_actor import TalkingActor
from pc3d.runs.checkpoint import named_arrays
from pc3d.system.errors import BadInput

ConditioningKind = Literal["plain", "film", "hypernetwork"]
KINDS: dict[type[Conditioning], ConditioningKind] = {
    PlainHead: "plain",
    GatedFilm: "film",
    HyperHead: "hypernetwork",
}


@dataclass(frozen=True)
class Network:
    """How the arrays belong together; None where a conditioning has no such part."""

    activation: Activation  # of the encoder and, if there is one, of the hypernetwork
    encoder_layers: int
    conditioning: ConditioningKind
    greedy: bool = False  # the best action is taken, always: the head says what actions are worth
    gate: GateMode | None = None
    reliance_range: tuple[float, float] | None = None
    hypernetwork_layers: int | None = None
    box: Box | None = None  # the bounds of an action's real numbers; None where it is a choice
    masked: bool = False  # whether a choice is told which actions are allowed
    rounds: int | None = None  # of messages; None where agents act alone


@dataclass(frozen=True)
class PlainActor:
    """Weights by their dotted names, such as encoder.layers.0.bias, and how they belong together."""

    weights: dict[str, np.ndarray]
    network: Network

    @property
    def observation_width(self) -> int:
        return self.weights["encoder.layers.0.weight"].shape[0]

    @property
    def memory_width(self) -> int:
        return self.weights["memory.from_memory.weight"].shape[0]

    @property
    def action_count(self) -> int:
        return self.weights["conditioning.head.bias"].size

    @property
    def context_width(self) -> int | None:
        bias = self.weights.get("conditioning.student.to_context.bias")
        return None if bias is None else bias.size


def plain_actor(actor: Actor, *, masked: bool = False) -> PlainActor:
    """Take an actor apart; only those conditionings whose files we can write are accepted."""
    if isinstance(actor, SeparateActors):
        raise BadInput(
            "a policy with an actor of its own for each agent cannot be exported: it is one for all"
        )
    if isinstance(actor.encoder, EntityEncoder):
        raise BadInput(
            "a policy that attends to entities cannot be exported yet: play it from Python, "
            "as docs/neighbours.md shows"
        )
    rounds = actor.rounds.count if isinstance(actor, TalkingActor) else None
    return PlainActor(named_arrays(actor), replace(_network(actor), masked=masked, rounds=rounds))


def _network(actor: Actor) -> Network:
    conditioning = actor.conditioning
    if type(conditioning) not in KINDS:
        known = ", ".join(kind.__name__ for kind in KINDS)
        raise BadInput(f"a {type(conditioning).__name__} cannot be exported yet, only {known}")
    network = Network(
        actor.encoder.activation,
        len(actor.encoder.layers),
        KINDS[type(conditioning)],
        greedy=actor.values_actions,
        box=None if actor.squashing is None else actor.squashing.box,
    )
    if isinstance(conditioning, ContextConditioning):
        student = conditioning.student
        bounds = (student.reliance_min, student.reliance_max)
        network = replace(network, gate=student.mode, reliance_range=bounds)
    if isinstance(conditioning, HyperHead):
        network = replace(network, hypernetwork_layers=len(conditioning.hypernetwork.layers))
    return network
