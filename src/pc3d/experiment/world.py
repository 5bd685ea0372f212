"""What is known of a task without running it: the rules it is set to, and how an own one was found."""

from dataclasses import dataclass
from typing import Literal

from pc3d.system.bounds import Bounded, within


@dataclass(frozen=True)
class Rules(Bounded):
    """What can be set of a task's rules; a task that has such settings has a class of its own for them."""

    @property
    def of_original(self) -> bool:
        """Whether the original package can be played by them, too."""
        return True


@dataclass(frozen=True)
class OwnWorld:
    """A task from outside the package as it was found when training began.

    It is enough to read, export and report the task's policies without running any of its code.
    """

    stepped_by: Literal["jax", "host"]
    """Compiled with the learner, or stepped as Python objects in worker processes."""
    horizon: int
    observation_shape: tuple[int, ...]
    action_names: tuple[str, ...]
    return_definition: str

    def __post_init__(self) -> None:
        within("horizon", self.horizon, 1, 10**6)
        for width in self.observation_shape:
            within("observation_shape", width, 1, 10**6)
        within("the number of actions", len(self.action_names), 1, 4096)
