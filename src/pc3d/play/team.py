"""A team is what acts: it sees a view of every moment and decides for everybody who is there.

What its kind may see besides each agent's own history is part of its type: `execution`.
"""

from typing import Any, ClassVar, Protocol, runtime_checkable

import equinox as eqx
from jaxtyping import Bool, Float, Num

from pc3d.experiment.execution import Execution
from pc3d.tasks.arrays import AnyArray

Memory = Any  # any tree of arrays, with axes for episodes and slots before all others


class View(eqx.Module):
    """What a team is shown of one moment of several episodes."""

    observations: Float[AnyArray, "episode agent observation"]
    present: Bool[AnyArray, "episode agent"]
    joined: Bool[AnyArray, "episode agent"] | None = None
    """Who was not there a moment ago: memories of such slots start from nothing. None where nobody joins."""
    states: Any = None
    """The whole states, for a team whose execution is privileged."""
    allowed: Bool[AnyArray, "episode agent action"] | None = None
    """Who may take which action now; None where everybody may take any."""
    links: Bool[AnyArray, "episode agent agent"] | None = None
    """Who hears whom, itself included, for a team whose messages come from those in sight."""
    whole: Float[AnyArray, "episode state"] | None = None
    """All that central parts are given, for a team that has a coach."""


class Decision(eqx.Module):
    """What a team does, and what is worth keeping of why: whoever learns from it says what."""

    actions: Num[AnyArray, "episode agent *number"]
    kept: Any = None


@runtime_checkable
class Team(Protocol):
    """Compiled with the worlds if it is an Equinox module; else it is asked moment by moment, with NumPy."""

    execution: ClassVar[Execution]

    def first(self, episodes: int, slots: int) -> Memory:
        """What is remembered before anything was seen."""

    def step(
        self, memory: Memory, view: View, chances: Float[AnyArray, "episode agent *number"]
    ) -> tuple[Memory, Decision]:
        """Decide; all that is random in it follows from a uniform draw for each agent.

        Where an action is several real numbers, there is one for each number.
        """
