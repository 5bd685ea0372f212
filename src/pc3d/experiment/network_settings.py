"""Sizes of the networks, and how the student follows the teacher."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pc3d.experiment.ranges import Share, Width, Widths
from pc3d.system.bounds import Bounded, Range
from pc3d.system.errors import BadInput


@dataclass(frozen=True)
class ActorSettings(Bounded):
    """The shared recurrent actor."""

    section: ClassVar[str] = "actor"

    widths: Widths
    """Widths of the dense layers before the recurrent one."""
    rnn_dim: Width
    """Width of the recurrent layer."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.widths:
            raise BadInput("actor.widths must name at least one layer")


@dataclass(frozen=True)
class CriticSettings(Bounded):
    """The central critic; IPPO has none of it."""

    section: ClassVar[str] = "critic"

    widths: Widths = ()
    """Widths of the value head's hidden layers."""
    set_embed_dim: Width = 1
    """d: width of an agent's encoding, of a token and of a context."""
    set_encoder_widths: Widths = ()
    """Hidden widths of the shared observation encoder φ."""
    team_size_feature: bool = False
    """Whether the value head is told the team size."""
    tokens: Annotated[int, Range(1, 256)] = 1
    """K: how many learned queries read the team."""
    global_state: bool = False
    """Whether the value head also sees the task's global state."""
    normalise_encodings: bool = False
    """Whether an encoding's numbers get zero mean and unit deviation, which attention's √d presumes."""


@dataclass(frozen=True)
class DistillationSettings(Bounded):
    """How the student context follows the teacher, and how far reliance may go."""

    section: ClassVar[str] = "distillation"

    weight: Annotated[float, Range(0, 1000)] = 0.0
    """λ_distill."""
    final_share: Share = 1.0
    """What is left of λ_distill at the end of the run, to which it falls evenly; 1: it stays as it is."""
    teacher_rate: Share = 0.01
    """τ: how fast the averaged teacher follows the learning one, per gradient step."""
    reliance_min: Annotated[float, Range(-1000, 1000)] = -3.0
    """ρ_min."""
    reliance_max: Annotated[float, Range(-1000, 1000)] = 2.0
    """ρ_max."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.reliance_min < self.reliance_max:
            raise BadInput(
                f"distillation.reliance_min ({self.reliance_min:g}) must be below "
                f"distillation.reliance_max ({self.reliance_max:g})"
            )
