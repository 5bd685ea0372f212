"""Who plays while CTDS learns: the teacher, who sees the team, or now and then its student."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from pc3d.experiment.execution import Execution
from pc3d.learners.exploring_team import explored
from pc3d.networks.actor import Actor
from pc3d.networks.build import Networks
from pc3d.networks.conditioning import PolicyOutput
from pc3d.play.actor_team import asked
from pc3d.play.team import Decision, View


class ShownTeam(eqx.Module):
    """One actor for all, of two; each agent by itself acts at random with probability ε. Never deployed."""

    execution: ClassVar[Execution] = Execution(central_module=True)
    networks: Networks
    student: Actor
    student_plays: Bool[Array, ""]
    epsilon: Float[Array, ""]

    def first(self, episodes: int, slots: int) -> Float[Array, "episode agent h"]:
        """Of whoever plays: both remember equally much."""
        return self.student.first_memory(episodes, slots)

    def step(
        self, memory: Float[Array, "episode agent h"], view: View, chances: Float[Array, "episode agent"]
    ) -> tuple[Float[Array, "episode agent h"], Decision]:
        def by_teacher() -> tuple[Array, PolicyOutput]:
            shown = self.networks.shown(jnp.asarray(view.observations), jnp.asarray(view.present))
            return asked(self.networks.actor, memory, eqx.tree_at(lambda one: one.observations, view, shown))

        def by_student() -> tuple[Array, PolicyOutput]:
            return asked(self.student, memory, view)

        memory, said = jax.lax.cond(self.student_plays, by_student, by_teacher)
        return memory, Decision(explored(said.logits, chances, self.epsilon, view.allowed, greedy=True))
