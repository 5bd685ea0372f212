"""Value factorisation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from pc3d.experiment.algorithm_settings import TEACHER_HEADLINES, CentralKind, MixingSettings
from pc3d.experiment.ranges import Width, Widths
from pc3d.experiment.replayed_settings import ExploringSettings
from pc3d.experiment.search import Between, OneOf, Tried


@dataclass(frozen=True)
class QLearningSettings(ExploringSettings):
    """Value factorisation: VDN and QMIX. The paper has none of it; reasons: docs/value_factorisation.md."""

    section: ClassVar[str] = "q"
    values_actions: ClassVar[bool] = True
    central: ClassVar[CentralKind] = "mixer"
    heeds_masks: ClassVar[bool] = True
    headlines: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "learner": {
            "epsilon": "ε",
            "value": "value",
            "value_error": "error",
            "loss_distillation": "distillation loss",
            "gate": "gate",
        },
        "teacher": TEACHER_HEADLINES,
    }
    searched: ClassVar[Mapping[str, Tried]] = {
        "learning_rate": Between(1e-4, 3e-3, log=True),
        "gradient_steps": OneOf((1, 2, 4, 8, 16)),
        "target_rate": Between(0.0025, 0.02, log=True),
        "trace": OneOf((0.0, 0.3, 0.6, 0.8)),
        "exploration_steps": OneOf((25_000, 50_000, 100_000, 200_000, 1_000_000)),
    }

    mixing_width: Width = 32
    """Of the layer between utilities and the team's value."""
    mixing_weights: Literal["absolute", "softmax"] = "absolute"
    """What keeps the mixer monotone: absolute values of its weights, or shares that add up to a constant."""
    hypernetwork_widths: Widths = (64,)
    """Hidden widths of the networks that make the mixer's weights."""

    @property
    def mixing(self) -> MixingSettings:
        return MixingSettings(self.mixing_width, self.mixing_weights, self.hypernetwork_widths)
