"""The interface of an algorithm: what turns experience into a policy.

Training, checkpoints, metrics, displays, studies, searches and benchmarks know this and nothing of PPO.
"""

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from pc3d.experiment.experiment import Experiment
from pc3d.networks.build import PolicyNetworks
from pc3d.play.episode import Episode
from pc3d.play.team import Team
from pc3d.system.errors import BadInput
from pc3d.tasks.task import Game


class Learner(eqx.Module):
    """The whole state of learning, which a checkpoint holds; algorithms add their own arrays."""

    update: Int[Array, ""]


class Lesson(eqx.Module):
    """What one update looked like."""

    scalars: dict[str, Float[Array, ""]]
    """By the names that metrics.jsonl and every display will have."""
    finite: Any
    """A module of booleans: what is made of finite numbers, in the order in which a fault would spread."""


@dataclass(frozen=True)
class Work:
    """What one update costs on paper."""

    operations: float
    """Floating-point operations on agents that are there; padding is not counted."""
    agent_steps: float
    """Gradients of single steps of single agents."""


class Algorithm(abc.ABC):
    """Functions of settings and states alone; `fresh` to `policy` are compiled."""

    @abc.abstractmethod
    def fresh(self, experiment: Experiment, task: Game) -> Learner:
        """The learner before its first update: a function of the experiment's seed."""

    @abc.abstractmethod
    def team(self, experiment: Experiment, learner: Any) -> Team:
        """Who plays the episodes that the next update learns from."""

    @abc.abstractmethod
    def learn(
        self, experiment: Experiment, task: Game, learner: Any, episodes: Episode, key: PRNGKeyArray
    ) -> tuple[Learner, Lesson]:
        """Improve on these episodes: those just played, or some of a replay where the settings keep one."""

    @abc.abstractmethod
    def policy(self, learner: Any) -> PolicyNetworks:
        """What a finished run leaves."""

    def privileged_team(self, experiment: Experiment, learner: Any) -> Team | None:
        """Who taught the policy and sees more than it, as a reference; None where nobody did."""
        del experiment, learner
        return None

    def begun_with(self, learner: Any, policy: PolicyNetworks) -> Learner:
        """A fresh learner that acts as this policy does, whose arrays have the shapes of its own."""
        del learner, policy
        raise BadInput("this algorithm cannot begin with the policy of another run")

    def after_play(self, learner: Any, episodes: Episode) -> Learner:
        """Take note of episodes just played, where `learn` gets others, drawn from a replay."""
        del episodes
        return learner

    def check(self, experiment: Experiment, task: Game) -> None:
        """Refuse settings that do not fit the task."""
        del experiment, task

    def concern(self, line: Mapping[str, Any]) -> str | None:
        """What a person should be told of the numbers that were logged, if anything is wrong with them."""
        del line
        return None

    def work(self, experiment: Experiment, task: Game, learner: Any, team_sizes: np.ndarray) -> Work | None:
        """What an update from episodes with these team sizes costs; None if nobody has counted it."""
        del experiment, task, learner, team_sizes
        return None
