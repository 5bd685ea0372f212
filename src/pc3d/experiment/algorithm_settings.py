"""What every algorithm says of itself in its settings. Nothing here needs JAX."""

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from pc3d.experiment.execution import LinkLoss
from pc3d.experiment.search import Tried
from pc3d.system.bounds import Bounded


@dataclass(frozen=True)
class ReplaySettings:
    """A replay for algorithms that learn from older episodes, too."""

    capacity: int
    """Episodes that are kept, the newest ones."""
    drawn: int
    """How many of them, or of their sequences, an update learns from."""
    sequence_steps: int = 0
    """Longer episodes are cut into sequences of at most this many steps; 0 leaves all of them whole."""
    burn_in: int = 0
    """Steps before a sequence that come with it, so that there is something to remember where it begins."""
    first_memories: bool = False
    """Whether a sequence comes with what its agents remembered before it when it was played."""


@dataclass(frozen=True)
class MixingSettings:
    """How the utilities of a team's members become the value of what the team does."""

    width: int
    """Of the layer between the utilities and the value."""
    weights: Literal["absolute", "softmax"]
    """What keeps the weights of utilities from being negative."""
    hypernetwork_widths: tuple[int, ...]
    """Hidden widths of the networks that make the weights."""


@dataclass(frozen=True)
class InsightSettings:
    """What an actor is told of its team while it learns; a student then learns to act without it."""

    kind: Literal["personal", "attention"]
    """Personal information for the head, or attention over the team beside what the agent sees itself."""
    encoder_widths: tuple[int, ...]
    """Hidden widths of the encoder of everybody's observation."""
    encoding: int
    """Width of an encoding."""
    told: int
    """How many numbers the actor is told."""

    @property
    def beside_observation(self) -> int:
        """How many more numbers the actor sees than its student."""
        return self.told if self.kind == "attention" else 0

    @property
    def beside_features(self) -> int:
        """How many numbers its head is told besides what it remembers."""
        return self.told if self.kind == "personal" else 0


@dataclass(frozen=True)
class EntitySettings:
    """How networks attend to entities: those that an agent sees, and in a mixer all there are."""

    width: int
    """Of an entity's encoding, and of what attention makes of them."""
    heads: int
    """That share this width."""


@dataclass(frozen=True)
class CoachSettings:
    """What a coach, which sees everything, tells each agent of its team."""

    every: int
    """Steps from one broadcast to the next."""
    width: int
    """Numbers that each agent is told."""


@dataclass(frozen=True)
class ConductingSettings:
    """How agents gather around conductors, who send back what their group said."""

    every: int
    """Steps from one election to the next."""
    conductors: float
    """How many there are on average."""
    width: int
    """Numbers in a message."""


CentralKind = Literal["state", "mixer", "joint action", "alternatives"]
"""What a central module values: a team's situation, its members' utilities, what all of them do together, or
each member's alternatives, given what the others do."""


@dataclass(frozen=True)
class AlgorithmSettings(Bounded, abc.ABC):
    """What an algorithm is set to; its `section` is the algorithm's name. `learners` has what it does."""

    headlines: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """What a person wants to see of its numbers while it trains, line by line, and what that is called."""

    searched: ClassVar[Mapping[str, Tried]] = {}
    """What a search tries for which of its settings."""

    values_actions: ClassVar[bool] = False
    """Whether its actor says what actions are worth, and the best is taken, or how likely they are."""

    central: ClassVar[CentralKind] = "state"
    """Which kind of central module it learns with."""

    twin: ClassVar[bool] = False
    """Whether it has two of them, and takes the lower word."""

    has_slow_copy: ClassVar[bool] = False
    """Whether targets come from a slow copy of its networks: the averaged teacher is then a part of it."""

    acts_in_numbers: ClassVar[bool] = False
    """Whether it learns actions that are real numbers, too."""

    heeds_masks: ClassVar[bool] = False
    """Whether it plays and learns by masks of what is allowed."""

    @property
    @abc.abstractmethod
    def episodes_between_updates(self) -> int:
        """How many episodes each environment plays before an update."""

    @classmethod
    def sections(cls) -> tuple[str, ...]:
        """Its own name, and before it those of the algorithms whose settings it extends."""
        found = [vars(kind).get("section") for kind in reversed(cls.__mro__)]
        return tuple(section for section in found if section)

    @property
    def separate_actors(self) -> bool:
        """Whether each slot has an actor of its own, in the place of one for all."""
        return False

    @property
    def message_rounds(self) -> int:
        """How often agents tell each other something before they act."""
        return 0

    @property
    def link_loss(self) -> LinkLoss:
        """Which of these messages get lost."""
        return LinkLoss()

    @property
    def replay(self) -> ReplaySettings | None:
        """How many episodes it keeps and learns from again; None if it learns from the newest ones alone."""
        return None

    @property
    def mixing(self) -> MixingSettings | None:
        """How its central module mixes the values of actions; None where there are none."""
        return None

    @property
    def central_module(self) -> str | None:
        """Its name where a setting decides it; None: as the method's row has it."""
        return None

    @property
    def insight(self) -> InsightSettings | None:
        """What its actor is told of the team; None if it learns as it acts, from its own history alone."""
        return None

    @property
    def entities(self) -> EntitySettings | None:
        """How its networks attend to entities; None where they read flat views."""
        return None

    @property
    def coach(self) -> CoachSettings | None:
        """What somebody who sees everything tells its agents, also when they act; None where nobody does."""
        return None

    @property
    def cost_of_information(self) -> float | None:
        """What a nat about teammates costs that its actor acts on; None where nobody counts it."""
        return None

    @property
    def conducting(self) -> ConductingSettings | None:
        """How its agents talk in groups; None where they do not."""
        return None


# How the teacher is, and what students learn of it: for every algorithm that distils.
TEACHER_HEADLINES = {
    "attention_over_agents": "attention over agents",
    "attention_over_tokens": "over tokens",
    "personal_share": "personal",
    "variance_explained": "recovered",
}
