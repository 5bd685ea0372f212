"""The paper's environment template, and the game it becomes for one roster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaxtyping import Array, Int, PRNGKeyArray

from pc3d.experiment.rosters import Rosters
from pc3d.system.errors import BadInput
from pc3d.tasks.task import AnyTask, Outcome


@dataclass(frozen=True)
class EnvironmentTemplate:
    """The paper's E = (S, A, O, U, R, Γ, γ): one game, the rosters it admits, and the discount.

    The task holds state schema, action and observation spaces and the shared objective.
    """

    task: AnyTask
    rosters: Rosters
    discount: float

    def instance(self, team_size: int) -> RosterInstance:
        """Γ(r): the Dec-POMDP that this template becomes for one roster."""
        if team_size not in self.rosters.all:
            raise BadInput(f"team size {team_size} is not admissible here: there are {self.rosters.all}")
        return RosterInstance(self.task.with_slots(team_size), team_size, self.discount)


@dataclass(frozen=True)
class RosterInstance:
    """M_r: the game for one roster, with exactly as many slots as agents."""

    task: AnyTask
    team_size: int
    discount: float

    def reset(self, key: PRNGKeyArray) -> Any:
        return self.task.reset(key, self.team_size)

    def step(self, key: PRNGKeyArray, state: Any, actions: Int[Array, " agent"]) -> tuple[Any, Outcome]:
        return self.task.step(key, state, actions)
