"""MIPI: Q-learning in which it costs something to act on what is seen of teammates."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pc3d.experiment.q_learning_settings import QLearningSettings
from pc3d.experiment.ranges import Share, ShareAboveNone
from pc3d.experiment.search import Between, OneOf, Tried
from pc3d.system.bounds import Range


@dataclass(frozen=True)
class MipiSettings(QLearningSettings):
    """Q-learning's settings and those of the reference, all of them ours: docs/neighbours.md."""

    section: ClassVar[str] = "mipi"
    headlines: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "learner": {
            "epsilon": "ε",
            "value": "value",
            "value_error": "error",
            "information": "nats about teammates",
            "entropy": "entropy",
        }
    }
    # The rest is PIC-QMIX's, and searched there.
    searched: ClassVar[Mapping[str, Tried]] = {
        "information_cost": Between(1e-3, 1e-1, log=True),
        "reference_updates": OneOf((5, 25, 100)),
    }

    information_cost: Annotated[float, Range(0, 1000, above=True)] = 0.01
    """α: what it costs an agent to act on a nat about its teammates, in deviations of the team's value."""
    reference_updates: Annotated[int, Range(1, 10**6)] = 25
    """Updates in which the reference stays as it is, while the next one learns from the policy."""
    imagined_teams: Share = 1.0
    """Of the sequences that the reference learns from: those in which some teammates are left out."""
    reference_learning_rate: ShareAboveNone = 1e-3
    """Of Adam's for the reference, at the start."""
    mixer: Literal["mean-utility", "joint-mixer", "mean-mixer"] = "mean-mixer"
    """What mixes the utilities, by its name in `networks.mixers`: as VDN, QMIX or PIC-QMIX do."""

    @property
    def central_module(self) -> str:
        return self.mixer

    @property
    def cost_of_information(self) -> float:
        return self.information_cost
