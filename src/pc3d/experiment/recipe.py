"""The choices that the paper leaves to whoever implements it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from pc3d.experiment.ranges import ShareAboveNone, Widths
from pc3d.system.bounds import Bounded, Range


@dataclass(frozen=True)
class Recipe(Bounded):
    """What the paper leaves open; the same for all methods of a task. Reasons: docs/reproduction.md."""

    section: ClassVar[str] = "recipe"

    normalise_values: bool = True
    """Regress on value targets of zero mean and unit deviation (running, over updates)."""
    value_statistics_rate: ShareAboveNone = 0.01
    """How fast the running mean and deviation of value targets follow."""
    normalise_advantages: bool = True
    """Give an update's advantages zero mean and, by the deviation below, a common scale."""
    advantage_deviation: Literal["update", "running"] = "update"
    """What normalised advantages are divided by: their own deviation, or the running one of value targets."""
    horizon_bootstraps: bool = True
    """At the time limit, the value of what would have come next counts: it is no end of the game."""
    reward_per_agent: bool = True
    """Learn from the team reward divided by the team size, so that sizes weigh alike."""
    learning_rate_schedule: Literal["constant", "linear"] = "linear"
    """Whether the step size falls to zero over the run."""
    adam_epsilon: ShareAboveNone = 1e-5
    """Adam's ε."""
    clip_gradients: Literal["together", "apart"] = "together"
    """Whether actor and critic share one gradient norm."""
    clip_values: bool = False
    """Whether the value loss is clipped around the value before the update, as some PPOs do."""
    environments: Annotated[int, Range(1, 4096)] = 1
    """How many play side by side; an algorithm says how many episodes of each it wants before an update."""
    batch_unit: Literal["sequences", "team_steps"] = "sequences"
    """What the batch size counts: sequences (whole episodes, if not cut), or steps of a team."""
    backpropagation_steps: Annotated[int, Range(1, 10**6)] = 64
    """Longer episodes are cut into sequences of at most this many steps."""
    activation: Literal["relu", "tanh"] = "relu"
    """Of every dense layer."""
    initialisation: Literal["orthogonal", "uniform"] = "orthogonal"
    """First weights: orthogonal, small in policy head and modulation; or as PyTorch makes a layer."""
    huber_delta: Annotated[float, Range(0, 1e6, above=True)] = 1.0
    """Where the distillation loss turns from quadratic to linear."""
    huber_reduction: Literal["mean", "root", "sum"] = "mean"
    """Over the d numbers of a context; root is what lies between: the sum divided by √d."""
    policy_gradient_reaches_context: bool = True
    """Whether the policy objective trains the student context; without it A-MAPPO's would never learn."""
    gate_scale: Annotated[float, Range(-100, 100)] = 1.0
    """a_g."""
    gate_offset: Annotated[float, Range(-100, 100)] = 0.0
    """b_g."""
    gate_learned: bool = False
    """Whether a_g and b_g are trained."""
    reliance_gradient: Literal["clipped", "straight"] = "clipped"
    """Whether the gradient stops where reliance is clipped, or passes through."""
    normalise_features: bool = False
    """Whether FiLM scales and shifts normalised features."""
    distillation_falls: bool = False
    """Whether the weight of distillation falls to zero with the learning rate."""
    distil_next: bool = False
    """Whether students learn the context of the next moment."""
    hypernetwork_widths: Widths = (64,)
    """Hidden widths of Hyper-PC3D's hypernetwork."""

    def without_contexts(self) -> Recipe:
        """With the usual settings of contexts, whatever a task wants of them."""
        usual = Recipe()
        return replace(self, **{name: getattr(usual, name) for name in OF_CONTEXTS})


OF_CONTEXTS = (
    *("huber_delta", "huber_reduction", "policy_gradient_reaches_context"),
    *("gate_scale", "gate_offset", "gate_learned", "reliance_gradient", "hypernetwork_widths"),
)
