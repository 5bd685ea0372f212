"""Who plays while COPA learns: all as they and their coach say, or now and then at random."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from pc3d.experiment.execution import COACHED, Execution
from pc3d.learners.exploring_team import explored
from pc3d.play.coached_team import CoachedMemory, CoachedTeam
from pc3d.play.team import Decision, View


class ExploringCoachedTeam(eqx.Module):
    """Messages are drawn, and each agent by itself acts at random with probability ε."""

    execution: ClassVar[Execution] = COACHED
    coached: CoachedTeam
    epsilon: Float[Array, ""]

    def first(self, episodes: int, slots: int) -> CoachedMemory:
        return self.coached.first(episodes, slots)

    def step(
        self, memory: CoachedMemory, view: View, chances: Float[Array, "episode agent"]
    ) -> tuple[CoachedMemory, Decision]:
        memory, said, _ = self.coached.listens(memory, view, chances)
        actions = explored(said.logits, chances, self.epsilon, view.allowed, greedy=True)
        return memory, Decision(actions, {"memory": memory.own} if self.coached.keeps else None)
