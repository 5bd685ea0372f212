"""The agent–entity graph, adapted: PPO whose agents send each other messages before they act."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pc3d.experiment.execution import LinkLoss
from pc3d.experiment.ppo_settings import PpoSettings
from pc3d.experiment.ranges import Share
from pc3d.experiment.search import OneOf, Tried
from pc3d.system.bounds import Range


@dataclass(frozen=True)
class GraphSettings(PpoSettings):
    """PPO's settings and those of the messages, which the paper does not have: docs/neighbours.md."""

    section: ClassVar[str] = "graph"
    headlines: ClassVar[Mapping[str, Mapping[str, str]]] = {
        **PpoSettings.headlines,
        "messages": {"teammates_heard": "teammates heard", "attention_to_self": "attention to self"},
    }
    # The rest is MAPPO's, and searched there.
    searched: ClassVar[Mapping[str, Tried]] = {"rounds": OneOf((1, 2, 3, 4))}

    rounds: Annotated[int, Range(0, 16)] = 3
    """K: how often agents tell each other something before they act; 0 is MAPPO."""
    link_dropout: Share = 0.0
    """How likely each direction of a link is lost; a link is there if both of its directions are."""
    link_renewal: Share = 0.1
    """How likely it is drawn anew at a step which links are lost."""

    @property
    def message_rounds(self) -> int:
        return self.rounds

    @property
    def link_loss(self) -> LinkLoss:
        return LinkLoss(self.link_dropout, self.link_renewal)
