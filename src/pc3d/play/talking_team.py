"""A shared actor in every slot, whose agents tell those who see them something before they act."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from pc3d.experiment.execution import IN_SIGHT, Execution, LinkLoss
from pc3d.networks.actor import Actor
from pc3d.networks.coached_actor import CoachedActor
from pc3d.networks.conducted_actor import ConductedActor
from pc3d.networks.talking_actor import TalkingActor
from pc3d.play.actor_team import ActorTeam, still_remembered
from pc3d.play.choosing import acting_of
from pc3d.play.coached_team import CoachedTeam
from pc3d.play.conducted_team import ConductedTeam
from pc3d.play.team import Decision, View


class TalkingTeam(ActorTeam):
    """The same with messages, none of which is remembered."""

    execution: ClassVar[Execution] = IN_SIGHT
    actor: TalkingActor
    loss: LinkLoss = eqx.field(static=True, default=LinkLoss())

    def step(
        self,
        memory: Float[Array, "episode agent h"],
        view: View,
        chances: Float[Array, "episode agent *number"],
    ) -> tuple[Float[Array, "episode agent h"], Decision]:
        assert view.links is not None, "a team that talks is told who hears whom"
        memory = self.actor.recall(still_remembered(memory, view), view.observations)
        policy, to_self = self.actor.says_among(memory, view.links)
        actions, likely = acting_of(self.actor).decide(
            policy.logits, chances, view.allowed, greedy=self.greedy
        )
        kept = {"links": view.links}
        if self.keeps:
            kept |= {"log_probability": likely, "memory": memory, "attention_to_self": to_self}
        return memory, Decision(actions, kept)


def team_of(
    actor: Actor, *, greedy: bool = False, keeps: bool = False, loss: LinkLoss | None = None
) -> ActorTeam | ConductedTeam | CoachedTeam:
    """The team of such an actor; links are lost and a coach speaks as it was trained, or as is said."""
    if isinstance(actor, TalkingActor):
        return TalkingTeam(actor, greedy, keeps, actor.loss if loss is None else loss)
    if isinstance(actor, ConductedActor):
        return ConductedTeam(actor, greedy, LinkLoss() if loss is None else loss)
    if isinstance(actor, CoachedActor):
        return CoachedTeam(actor, greedy, keeps, actor.every)
    return ActorTeam(actor, greedy, keeps)
