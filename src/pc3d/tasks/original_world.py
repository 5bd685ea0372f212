"""One original environment for one team size, speaking in the port's states, views and outcomes."""

import abc
from typing import Any, ClassVar, Generic

import numpy as np
from jaxtyping import Float, Int, PRNGKeyArray

from pc3d.system.errors import MissingExtra
from pc3d.tasks.task import Outcome, StateT, Task


class OriginalWorld(abc.ABC, Generic[StateT]):
    """Holds the package's own object; every array that comes out is NumPy's, as wide as the team."""

    package: ClassVar[str]

    def __init__(self, task: Task[StateT]) -> None:
        """`task` is the port, with exactly as many slots as the team has agents."""
        self.task = task
        self.team_size = task.slots
        try:
            self._environment = self._made()
        except ImportError as error:
            raise MissingExtra(self.package, "originals") from error
        self.reset(seed=0)

    @abc.abstractmethod
    def _made(self) -> Any:
        """The package's own object for the team; only now is the package imported."""

    @abc.abstractmethod
    def reset(self, seed: int) -> None:
        """Start an episode by the package's own reset."""

    @abc.abstractmethod
    def load(self, state: StateT) -> None:
        """Put the environment into a state of the port (the first `team_size` slots of it)."""

    @abc.abstractmethod
    def read(self) -> StateT:
        """The environment's present state, as the port writes it, without any rounding."""

    @abc.abstractmethod
    def observe(self) -> Float[np.ndarray, "agent observation"]:
        """Each agent's view, made from what the package itself returns."""

    @abc.abstractmethod
    def step(self, actions: Int[np.ndarray, " agent"]) -> Outcome:
        """Play one step; a time limit counts as truncation even where the package says termination."""

    def follow(self, key: PRNGKeyArray) -> None:
        """Let the next step choose what is left to it as the port's does with this key.

        Nothing to do where a step is fully determined by its actions.
        """
        del key

    def close(self) -> None:
        """Free what the package holds."""
        self._environment.close()
