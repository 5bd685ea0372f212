"""PPO: the algorithm of the paper."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pc3d.experiment.algorithm_settings import TEACHER_HEADLINES, AlgorithmSettings
from pc3d.experiment.ranges import Share, ShareAboveNone
from pc3d.experiment.search import Between, OneOf, Tried
from pc3d.system.bounds import Range


@dataclass(frozen=True)
class PpoSettings(AlgorithmSettings):
    """The rows of the paper's hyperparameter table that all methods have."""

    section: ClassVar[str] = "ppo"
    acts_in_numbers: ClassVar[bool] = True
    heeds_masks: ClassVar[bool] = True
    headlines: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "learner": {"entropy": "entropy", "loss_distillation": "distillation loss", "gate": "gate"},
        "teacher": TEACHER_HEADLINES,
    }
    # The paper gives the settings its searches ended with, not the ranges. Each range here holds all of them.
    searched: ClassVar[Mapping[str, Tried]] = {
        "learning_rate": Between(1e-4, 3e-3, log=True),
        "batch_size": OneOf((32, 64, 128, 256)),
        "update_every_episodes": OneOf((1, 2, 4, 8, 16)),
        "epochs": OneOf((4, 6, 8, 10)),
        "clip": OneOf((0.10, 0.15, 0.20, 0.25, 0.30)),
        "discount": OneOf((0.97, 0.98, 0.985, 0.99, 0.995)),
        "gae_lambda": OneOf((0.90, 0.93, 0.95, 0.97, 0.99)),
        "entropy_coefficient": Between(1e-4, 3e-2, log=True),
        "value_coefficient": OneOf((0.25, 0.5, 1.0, 2.0)),
        "max_gradient_norm": OneOf((0.5, 1.0, 2.0, 5.0, 10.0)),
    }

    learning_rate: ShareAboveNone
    """Adam's step size at the start."""
    batch_size: Annotated[int, Range(1, 10**9)]
    """How much a minibatch holds at most; in which unit, says recipe.batch_unit."""
    buffer_size: Annotated[int, Range(1, 10**12)]
    """Team steps held for each environment; what it plays between two updates must fit."""
    update_every_episodes: Annotated[int, Range(1, 4096)]
    """Episodes each environment plays between two updates; recipe.environments says how many there are."""
    epochs: Annotated[int, Range(1, 1000)]
    """Passes over the played episodes in one update."""
    clip: ShareAboveNone
    """PPO's ε: how far the probability ratio may move."""
    discount: Share
    """γ."""
    gae_lambda: Share
    """λ of generalised advantage estimation."""
    entropy_coefficient: Annotated[float, Range(0, 10)]
    """Weight of the entropy bonus."""
    value_coefficient: Annotated[float, Range(0, 100)]
    """Weight of the value loss."""
    max_gradient_norm: Annotated[float, Range(0, 1e6, above=True)]
    """Longer gradients are shortened to this norm."""

    @property
    def episodes_between_updates(self) -> int:
        return self.update_every_episodes

    @property
    def passes_of_agents(self) -> int:
        """How often an update learns from a decision of an agent."""
        return self.epochs

    @property
    def passes_of_teams(self) -> int:
        """How often its critic learns from a step of a team."""
        return self.epochs
