"""A shared actor in every slot, each with a memory of its own: a team of agents that act alone."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pc3d.experiment.execution import ALONE, Execution
from pc3d.networks.actor import Actor
from pc3d.networks.conditioning import PolicyOutput
from pc3d.play.choosing import acting_of
from pc3d.play.team import Decision, Memory, View


class ActorTeam(eqx.Module):
    """One actor for all; each agent has a memory of its own."""

    execution: ClassVar[Execution] = ALONE
    actor: Actor
    greedy: bool = eqx.field(static=True, default=False)
    keeps: bool = eqx.field(static=True, default=False)
    """Whether decisions are kept with their log-probabilities, and the memories that led to them."""

    def first(self, episodes: int, slots: int) -> Float[Array, "episode agent h"]:
        return self.actor.first_memory(episodes, slots)

    def step(
        self,
        memory: Float[Array, "episode agent h"],
        view: View,
        chances: Float[Array, "episode agent *number"],
    ) -> tuple[Float[Array, "episode agent h"], Decision]:
        memory, policy = asked(self.actor, memory, view)
        greedy = self.greedy or self.actor.values_actions
        actions, likely = acting_of(self.actor).decide(policy.logits, chances, view.allowed, greedy=greedy)
        return memory, Decision(
            actions, {"log_probability": likely, "memory": memory} if self.keeps else None
        )


def asked(
    actor: Actor, memory: Float[Array, "episode agent h"], view: View
) -> tuple[Float[Array, "episode agent h"], PolicyOutput]:
    """What everybody remembers now and says; whoever has just joined remembers nothing."""
    return actor.step(still_remembered(memory, view), view.observations)


def still_remembered(memory: Memory, view: View) -> Memory:
    """What everybody remembers; nothing, where somebody has just joined."""
    if view.joined is None:
        return memory
    joined = view.joined[..., None]
    return jax.tree.map(lambda part: jnp.where(joined, 0, part), memory)
