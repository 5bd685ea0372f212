"""Who plays while PTDE learns: agents that are told of their team, or that guess what they would be told."""

from typing import ClassVar

import equinox as eqx
import jax
from jaxtyping import Array, Bool, Float

from pc3d.experiment.execution import Execution
from pc3d.networks.actor import Actor
from pc3d.networks.build import Networks
from pc3d.networks.critics import TeamView, beside
from pc3d.play.actor_team import still_remembered
from pc3d.play.choosing import acting_of
from pc3d.play.team import Decision, View


class Remembered(eqx.Module):
    """What everybody remembers: as the actor, and as its student."""

    own: Float[Array, "episode agent h"]
    student: Float[Array, "episode agent h"]


class ToldTeam(eqx.Module):
    """One actor for all, told by the insight or by the student; never deployed."""

    execution: ClassVar[Execution] = Execution(central_module=True)
    networks: Networks
    student: Actor
    student_plays: Bool[Array, ""]

    def first(self, episodes: int, slots: int) -> Remembered:
        own = self.networks.actor.first_memory(episodes, slots)
        return Remembered(own, self.student.first_memory(episodes, slots))

    def step(
        self, memory: Remembered, view: View, chances: Float[Array, "episode agent *number"]
    ) -> tuple[Remembered, Decision]:
        actor, memory = self.networks.actor, still_remembered(memory, view)
        own = actor.recall(memory.own, view.observations)

        def told() -> tuple[Array, Array]:
            insight = self.networks.insight
            assert insight is not None
            return memory.student, insight.beside_features(own, TeamView(view.observations, view.present))

        def guessed() -> tuple[Array, Array]:
            after, said = self.student.step(memory.student, view.observations)
            return after, beside(own, said.logits)

        of_student, features = jax.lax.cond(self.student_plays, guessed, told)
        said = actor.says(features).logits
        actions, likely = acting_of(actor).decide(said, chances, view.allowed)
        return Remembered(own, of_student), Decision(actions, {"log_probability": likely, "memory": own})
