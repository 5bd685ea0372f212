"""HAPPO: PPO whose agents learn in turns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pc3d.experiment.ppo_settings import PpoSettings
from pc3d.experiment.search import OneOf, Tried
from pc3d.system.bounds import Range


@dataclass(frozen=True)
class HappoSettings(PpoSettings):
    """PPO's settings and those of the turns. The paper has none of the latter; reasons: docs/happo.md."""

    section: ClassVar[str] = "happo"
    headlines: ClassVar[Mapping[str, Mapping[str, str]]] = {
        **PpoSettings.headlines,
        "learner": {**PpoSettings.headlines["learner"], "correction_high": "correction"},
    }
    # The rest is MAPPO's, and searched there.
    searched: ClassVar[Mapping[str, Tried]] = {
        "turns": OneOf((2, 4, 8)),
        "correction_limit": OneOf((1.25, 1.5, 2.0, 4.0)),
    }

    turns: Annotated[int, Range(1, 1024)] = 2
    """Into how many turns an update deals a team; 1 is PPO, as many as agents is the original."""
    correction_limit: Annotated[float, Range(1, 1e9)] = 2.0
    """c: how far others may scale an advantage, at most by c and at least by 1/c."""
    parameters: Literal["shared", "separate"] = "shared"
    """Whether all agents are one actor, or each has its own, which fits no other team size."""

    @property
    def epochs_of_turn(self) -> int:
        """A turn that moves everybody has its share of the epochs; one that moves its own agents has all."""
        return self.epochs if self.separate_actors else -(-self.epochs // self.turns)

    @property
    def passes_of_agents(self) -> int:
        return self.epochs_of_turn

    @property
    def passes_of_teams(self) -> int:
        return self.turns * self.epochs_of_turn

    @property
    def separate_actors(self) -> bool:
        return self.parameters == "separate"
