"""COPA: value factorisation entity by entity, with a coach that sees everything and speaks now and then."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pc3d.experiment.algorithm_settings import CoachSettings
from pc3d.experiment.entity_settings import VALUES, EntityQSettings
from pc3d.experiment.ranges import Width
from pc3d.experiment.search import OneOf, Tried
from pc3d.system.bounds import Range

NEVER = 0  # in the place of how many steps lie between two broadcasts


@dataclass(frozen=True)
class CopaSettings(EntityQSettings):
    """A-QMIX's settings and those of the coach, which the paper does not have: docs/neighbours.md."""

    section: ClassVar[str] = "copa"
    headlines: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "learner": VALUES,
        "coach": {"loss_recognition": "recognition loss", "broadcast_moved": "moved"},
    }
    searched: ClassVar[Mapping[str, Tried]] = {
        "broadcast_every": OneOf((2, 4, 8)),
        "recognition_weight": OneOf((0.0, 1e-4, 1e-3, 1e-2)),
    }

    broadcast_every: Annotated[int, Range(0, 10**4)] = 4
    """T: steps from one word of the coach to the next; 0 is never, which is a-qmix."""
    broadcast_width: Width = 64
    """Numbers that the coach tells each agent."""
    recognition_weight: Annotated[float, Range(0, 1e3)] = 1e-3
    """λ₁: how much it counts that what an agent was told can be told from what it does."""
    entropy_weight: Annotated[float, Range(0, 1e3)] = 1e-4
    """λ₂: how much it counts that broadcasts are not always the same."""

    @property
    def coach(self) -> CoachSettings | None:
        if self.broadcast_every == NEVER:
            return None
        return CoachSettings(self.broadcast_every, self.broadcast_width)

    @property
    def central_module(self) -> str:
        return "entity-mixer" if self.coach is None else "coach-mixer"
