"""SOG: REFIL whose agents gather around conductors now and then, who send back what their group said."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pc3d.experiment.algorithm_settings import ConductingSettings
from pc3d.experiment.entity_settings import VALUES, RefilSettings
from pc3d.experiment.ranges import Width
from pc3d.experiment.search import OneOf, Tried
from pc3d.system.bounds import Range


@dataclass(frozen=True)
class SogSettings(RefilSettings):
    """REFIL's settings and those of groups, which the paper does not have: docs/neighbours.md."""

    section: ClassVar[str] = "sog"
    headlines: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "learner": {**VALUES, "loss_imagined": "imagined loss"},
        "groups": {"grouped": "in a group", "loss_foresight": "foresight loss"},
    }
    searched: ClassVar[Mapping[str, Tried]] = {
        "election_every": OneOf((2, 4, 8)),
        "message_width": OneOf((3, 8, 16)),
    }

    election_every: Annotated[int, Range(0, 10**4)] = 4
    """T: steps from one election of conductors to the next; 0 is never, which is refil."""
    conductors: Annotated[float, Range(0, 1000)] = 2.0
    """How many there are on average: each agent is elected with this, divided by the team's size."""
    message_width: Width = 3
    """Numbers in a message."""
    foresight_weight: Annotated[float, Range(0, 1e3)] = 0.01
    """How much it counts that a message can be told from what its sender knows when it is last used."""
    contrast_weight: Annotated[float, Range(0, 1e3)] = 0.01
    """How much it counts that it is told apart from teammates' messages by that."""

    @property
    def conducting(self) -> ConductingSettings | None:
        if self.election_every == 0:
            return None
        return ConductingSettings(self.election_every, self.conductors, self.message_width)
