"""Who plays while SOG learns: all as they say, from drawn messages, or now and then at random."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from pc3d.experiment.execution import IN_SIGHT, Execution
from pc3d.learners.exploring_team import explored
from pc3d.play.conducted_team import ConductedMemory, ConductedTeam
from pc3d.play.team import Decision, View


class ExploringConductedTeam(eqx.Module):
    """Each agent by itself acts at random with probability ε; what it heard is kept, to learn with."""

    execution: ClassVar[Execution] = IN_SIGHT
    conducted: ConductedTeam
    epsilon: Float[Array, ""]

    def first(self, episodes: int, slots: int) -> ConductedMemory:
        return self.conducted.first(episodes, slots)

    def step(
        self, memory: ConductedMemory, view: View, chances: Float[Array, "episode agent"]
    ) -> tuple[ConductedMemory, Decision]:
        memory, said, _ = self.conducted.listens(memory, view, chances)
        actions = explored(said.logits, chances, self.epsilon, view.allowed, greedy=True)
        return memory, Decision(actions, {"told": memory.told, "grouped": memory.grouped})
