"""What an actor–critic learns to value, towards which targets, and what its actor makes of the critics."""

import abc

from jaxtyping import Array, Float

from pc3d.experiment.experiment import Experiment
from pc3d.learners.actor_critic.scene import Scene
from pc3d.networks.critics import Critic

Logits = Float[Array, "episode moment agent action"]


class Objective(abc.ABC):
    """Values and targets are of steps of teams, or of every agent in them."""

    @abc.abstractmethod
    def values(self, critic: Critic, scene: Scene) -> Float[Array, "..."]:
        """What one critic says of the actions that were taken, on the networks' own scale."""

    @abc.abstractmethod
    def targets(self, experiment: Experiment, scene: Scene, logits: Logits) -> Float[Array, "..."]:
        """What it should have said, in the task's own scale; `logits` are those of the learning actor."""

    @abc.abstractmethod
    def policy_loss(
        self, experiment: Experiment, critic: Critic, scene: Scene, logits: Logits
    ) -> Float[Array, ""]:
        """What the actor lowers."""

    @abc.abstractmethod
    def mean(self, scene: Scene, values: Float[Array, "..."]) -> Float[Array, ""]:
        """Over all of a minibatch that has a value."""
