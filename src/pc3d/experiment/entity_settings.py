"""Value factorisation entity by entity: a common base, and REFIL, which imagines groups of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pc3d.experiment.algorithm_settings import EntitySettings
from pc3d.experiment.q_learning_settings import QLearningSettings
from pc3d.experiment.ranges import Share, Width
from pc3d.experiment.search import OneOf, Tried
from pc3d.system.bounds import Range
from pc3d.system.errors import BadInput

VALUES = {"epsilon": "ε", "value": "value", "value_error": "error"}


@dataclass(frozen=True)
class EntityQSettings(QLearningSettings):
    """Q-learning's settings and those of attention, which the paper does not have: docs/neighbours.md."""

    section: ClassVar[str] = "aqmix"
    headlines: ClassVar[Mapping[str, Mapping[str, str]]] = {"learner": VALUES}
    # The rest is QMIX's, and searched there.
    searched: ClassVar[Mapping[str, Tried]] = {"attention_width": OneOf((32, 64, 128))}

    attention_width: Width = 64
    """Of an entity's encoding, and of what attention makes of them."""
    attention_heads: Annotated[int, Range(1, 64)] = 4
    """That share this width."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.attention_width % self.attention_heads:
            raise BadInput(
                f"{self.section}.attention_width ({self.attention_width}) must be a multiple of "
                f"{self.section}.attention_heads ({self.attention_heads})"
            )

    @property
    def entities(self) -> EntitySettings:
        return EntitySettings(self.attention_width, self.attention_heads)


@dataclass(frozen=True)
class RefilSettings(EntityQSettings):
    """The same with random groups of entities, and a value that is imagined from them."""

    section: ClassVar[str] = "refil"
    headlines: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "learner": {**VALUES, "loss_imagined": "imagined loss"}
    }
    searched: ClassVar[Mapping[str, Tried]] = {"imagination": OneOf((0.1, 0.3, 0.5, 0.7))}

    imagination: Share = 0.5
    """λ: the imagined value's share of the loss; 0 is a-qmix."""
