"""Value factorisation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pc3d.experiment.algorithm_settings import (
    TEACHER_HEADLINES,
    AlgorithmSettings,
    MixingSettings,
    ReplaySettings,
)
from pc3d.experiment.ranges import Share, ShareAboveNone, Width, Widths
from pc3d.experiment.search import Between, OneOf, Tried
from pc3d.system.bounds import Range


@dataclass(frozen=True)
class QLearningSettings(AlgorithmSettings):
    """Value factorisation: VDN and QMIX. The paper has none of it; reasons: docs/value_factorisation.md."""

    section: ClassVar[str] = "q"
    values_actions: ClassVar[bool] = True
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

    learning_rate: ShareAboveNone = 5e-4
    """Adam's step size at the start."""
    batch_size: Annotated[int, Range(1, 10**6)] = 32
    """Sequences (whole episodes, if not cut) that a gradient step learns from."""
    gradient_steps: Annotated[int, Range(1, 10**4)] = 2
    """In one update, each with sequences of its own."""
    update_every_episodes: Annotated[int, Range(1, 4096)] = 1
    """Episodes each environment plays between two updates; recipe.environments says how many there are."""
    capacity: Annotated[int, Range(1, 10**7)] = 5000
    """Episodes that are remembered, the newest ones."""
    sequence_steps: Annotated[int, Range(1, 10**6)] = 64
    """Longer episodes are cut into sequences of at most this many steps."""
    burn_in: Annotated[int, Range(0, 10**6)] = 16
    """Steps before a sequence that are only remembered, not learned from."""
    discount: Share = 0.99
    """γ."""
    trace: Share = 0.0
    """λ: how far the rewards that followed count before the target's value does; 0 is one step."""
    target_rate: ShareAboveNone = 0.005
    """τ: how fast the slow copy follows, per gradient step; targets and contexts to distil come from it."""
    exploration_start: Share = 1.0
    """ε at first: how often an agent acts at random."""
    exploration_end: Share = 0.05
    """ε in the end; it is never lower."""
    exploration_steps: Annotated[int, Range(1, 10**9)] = 50_000
    """Steps of a team over which ε falls."""
    max_gradient_norm: Annotated[float, Range(0, 1e6, above=True)] = 10.0
    """Longer gradients are shortened to this norm."""
    mixing_width: Width = 32
    """Of the layer between utilities and the team's value."""
    mixing_weights: Literal["absolute", "softmax"] = "absolute"
    """What keeps the mixer monotone: absolute values of its weights, or shares that add up to a constant."""
    hypernetwork_widths: Widths = (64,)
    """Hidden widths of the networks that make the mixer's weights."""

    @property
    def episodes_between_updates(self) -> int:
        return self.update_every_episodes

    @property
    def replay(self) -> ReplaySettings:
        drawn = self.batch_size * self.gradient_steps
        return ReplaySettings(self.capacity, drawn, self.sequence_steps, self.burn_in)

    @property
    def mixing(self) -> MixingSettings:
        return MixingSettings(self.mixing_width, self.mixing_weights, self.hypernetwork_widths)
