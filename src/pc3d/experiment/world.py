"""What is known of a task without running it: the rules it is set to, and how an own one was found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from pc3d.experiment.action_space import ActionSpace, Box, Choice
from pc3d.system.bounds import Bounded, within
from pc3d.system.errors import BadInput

LONGEST_ABOUT = 300  # characters


@dataclass(frozen=True)
class Rules(Bounded):
    """What can be set of a task's rules; a task that has such settings has a class of its own for them."""

    @property
    def of_original(self) -> bool:
        """Whether the original package can be played by them, too."""
        return True


@dataclass(frozen=True)
class ObservationPart:
    """Some neighbouring numbers of an observation, and what they mean."""

    name: str
    width: int

    def __post_init__(self) -> None:
        within(f"the width of the observation's part {self.name[:60]}", self.width, 0, 10**6)


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
    """Of the actions, or, where an action is several real numbers, of those."""
    return_definition: str
    action_low: tuple[float, ...] = ()
    """The bounds of an action's numbers; there are none where it is a choice."""
    action_high: tuple[float, ...] = ()
    masks_actions: bool = False
    """Whether the task tells which actions are allowed."""
    roster_changes: bool = field(default=False, kw_only=True)
    """Whether its agents leave and join within an episode, by its own rules."""
    spare_slots: int = field(default=0, kw_only=True)
    """How many more slots it has than agents at the start, for those who join."""
    # What a task says of itself changes nothing of a run: one of before these words goes on.
    observation_parts: tuple[ObservationPart, ...] = field(default=(), kw_only=True, compare=False)
    about: str = field(default="", kw_only=True, compare=False)
    """What is played, in the task's own words: the beginning of its docstring."""

    def __post_init__(self) -> None:
        within("horizon", self.horizon, 1, 10**6)
        within("spare_slots", self.spare_slots, 0, 10**6)
        for width in self.observation_shape:
            within("observation_shape", width, 1, 10**6)
        if self.masks_actions and (self.action_low or self.action_high):
            raise BadInput("only a choice of actions can have masks, not a box of numbers")
        within("the length of about", len(self.about), 0, LONGEST_ABOUT + 1)  # with a full stop
        _ = self.action_space  # says what is wrong with it, if anything is
        named = sum(part.width for part in self.observation_parts)
        if self.observation_parts and named != self.observation_width:
            raise BadInput(
                f"the parts of an observation have {named} numbers and all of it {self.observation_width}"
            )

    @staticmethod
    def acting(space: ActionSpace, **others: Any) -> OwnWorld:
        """A world whose agents can do this."""
        low, high = (space.low, space.high) if isinstance(space, Box) else ((), ())
        return OwnWorld(
            action_names=space.names,
            action_low=low,
            action_high=high,
            masks_actions=space.masked,
            **others,
        )

    @property
    def observation_width(self) -> int:
        return math.prod(self.observation_shape)

    @property
    def action_space(self) -> ActionSpace:
        if self.action_low or self.action_high:
            return Box(self.action_names, self.action_low, self.action_high)
        return Choice(self.action_names, self.masks_actions)
