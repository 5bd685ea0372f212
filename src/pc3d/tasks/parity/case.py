"""What parity needs to know of one task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from pc3d.experiment.mixes import Cast
from pc3d.tasks.original_world import OriginalWorld
from pc3d.tasks.task import AnyTask, World

State = Any
Scenario = Callable[[np.random.Generator, Any], State]  # for the port with as many slots as agents


def by_name(*scenarios: Scenario) -> dict[str, Scenario]:
    """Scenarios by what a report calls them: as their functions are called."""
    return {scenario.__name__.replace("_", " "): scenario for scenario in scenarios}


@dataclass(frozen=True)
class Opponent:
    """One version of the original to compare with."""

    label: str
    make: Callable[[Any], OriginalWorld[Any]]  # from the port with as many slots as the team has agents
    # Which steps must agree: for one step, given (task, state, actions). None means all of them.
    compared: Callable[[AnyTask, State, Int[Array, " agent"]], Bool[Array, ""]] | None = None


@dataclass(frozen=True)
class ParityCase:
    """One task's originals, its unusual starts, and how exactly they must agree."""

    task: AnyTask
    opponents: tuple[Opponent, ...]
    # States random play hardly reaches, drawn at random.
    scenarios: Mapping[str, Scenario]
    # Largest allowed error per step from the same state, for floats: (in float64, in float32).
    tolerance: tuple[float, float] = (0.0, 1e-6)
    # How often each action is played from a scenario: uniform play hardly ever loads together or drives a
    # ring. Episodes that begin with a reset are played uniformly. None means uniform throughout.
    action_probabilities: tuple[float, ...] | None = None

    def in_world(self, world: World) -> ParityCase:
        """The same for the task's own world, or for one that grows with the team."""
        return replace(self, task=replace(self.task, world=world))

    def with_cast(self, cast: Cast) -> ParityCase:
        """The same for such kinds of agents."""
        return replace(self, task=self.task.with_cast(cast))


def capabilities_by_chance(
    generator: np.random.Generator, task: AnyTask
) -> Float[np.ndarray, "agent capability"] | None:
    """For a scenario; None, and nothing is drawn, where all agents are alike."""
    if not task.unlike:
        return None
    key = jax.random.key(int(generator.integers(2**31)))
    return np.asarray(task.drawn_capabilities(key, task.slots), np.float64)
