"""What every algorithm has that learns from a replay and towards slow copies of its networks."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pc3d.experiment.algorithm_settings import AlgorithmSettings, ReplaySettings
from pc3d.experiment.ranges import Share, ShareAboveNone
from pc3d.system.bounds import Range


@dataclass(frozen=True)
class ReplayedSettings(AlgorithmSettings):
    """Gradient steps on sequences that are drawn from the newest episodes, with targets of a slow copy."""

    has_slow_copy: ClassVar[bool] = True

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
    stored_memory: bool = False
    """Whether these steps begin with what was remembered when they were played, or with nothing."""
    discount: Share = 0.99
    """γ."""
    trace: Share = 0.0
    """λ: how far the rewards that followed count before the target's value does; 0 is one step."""
    target_rate: ShareAboveNone = 0.005
    """τ: how fast the slow copy follows, per gradient step; targets and contexts to distil come from it."""
    max_gradient_norm: Annotated[float, Range(0, 1e6, above=True)] = 10.0
    """Longer gradients are shortened to this norm."""

    @property
    def episodes_between_updates(self) -> int:
        return self.update_every_episodes

    @property
    def replay(self) -> ReplaySettings:
        drawn = self.batch_size * self.gradient_steps
        return ReplaySettings(self.capacity, drawn, self.sequence_steps, self.burn_in, self.stored_memory)


@dataclass(frozen=True)
class ExploringSettings(ReplayedSettings):
    """The same with ε: how often an agent acts at random falls linearly with the steps of teams."""

    exploration_start: Share = 1.0
    """ε at first: how often an agent acts at random."""
    exploration_end: Share = 0.05
    """ε in the end; it is never lower."""
    exploration_steps: Annotated[int, Range(1, 10**9)] = 50_000
    """Steps of a team over which ε falls."""
    rewarmed_exploration: Share = 0.0
    """ε where a new stage of the curriculum begins, if it is lower by then; 0 leaves it."""
    rewarmed_episodes: Annotated[int, Range(1, 10**9)] = 500
    """Episodes over which that falls to 0, or to what ε is anyway."""
