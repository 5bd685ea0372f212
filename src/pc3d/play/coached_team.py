"""A shared actor in every slot, and a coach that sees everything and tells each of them something."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from pc3d.experiment.execution import COACHED, Execution
from pc3d.networks.coached_actor import CoachedActor
from pc3d.networks.conditioning import PolicyOutput
from pc3d.play.actor_team import still_remembered
from pc3d.play.choosing import acting_of
from pc3d.play.hashed_draws import normal_draws
from pc3d.play.team import Decision, View


class CoachedMemory(eqx.Module):
    """What everybody remembers, what each was told last, and the time."""

    own: Float[Array, "episode agent h"]
    told: Float[Array, "episode agent number"]  # zero for who was told nothing yet
    heard: Bool[Array, "episode agent"]
    """Who was told anything at all."""
    time: Int[Array, "episode agent"]


class CoachedTeam(eqx.Module):
    """One actor for all, told by a coach at every so many steps; whoever joins waits for the next word."""

    execution: ClassVar[Execution] = COACHED
    actor: CoachedActor
    greedy: bool = eqx.field(static=True, default=False)
    keeps: bool = eqx.field(static=True, default=False)
    """Whether decisions are kept with their log-probabilities, and the memories that led to them."""
    every: int = eqx.field(static=True, default=0)
    """Steps from one broadcast to the next; 0 is never."""
    thrift: float = eqx.field(static=True, default=0.0)
    """Who would be told hardly anything new, no further away than this, is told nothing."""
    draws: bool = eqx.field(static=True, default=False)
    """Whether messages are drawn, as while learning, or are their means."""

    def first(self, episodes: int, slots: int) -> CoachedMemory:
        """Nothing."""
        places = (episodes, slots)
        return CoachedMemory(
            self.actor.first_memory(episodes, slots),
            jnp.zeros((*places, self.actor.told_width)),
            jnp.zeros(places, bool),
            jnp.zeros(places, jnp.int32),
        )

    def step(
        self, memory: CoachedMemory, view: View, chances: Float[Array, "episode agent"]
    ) -> tuple[CoachedMemory, Decision]:
        memory, policy, sent = self.listens(memory, view, chances)
        greedy = self.greedy or self.actor.values_actions
        actions, likely = acting_of(self.actor).decide(policy.logits, chances, view.allowed, greedy=greedy)
        kept = {"heard": sent}
        if self.keeps:
            kept |= {"log_probability": likely, "memory": memory.own}
        return memory, Decision(actions, kept)

    def listens(
        self, memory: CoachedMemory, view: View, chances: Float[Array, "episode agent"]
    ) -> tuple[CoachedMemory, PolicyOutput, Bool[Array, "episode agent"]]:
        """What everybody remembers now and says, and who has just been told something."""
        coach = self.actor.coach
        assert coach is not None, "a team with a coach is built from a policy with one"
        assert view.whole is not None, "a coach is shown everything"
        own, told = still_remembered((memory.own, memory.told), view)
        heard = memory.heard if view.joined is None else memory.heard & ~view.joined
        advice = coach.advice(jnp.asarray(view.whole), jnp.asarray(view.present))
        news = advice.drawn(normal_draws(chances, coach.width)) if self.draws else advice.mean
        moved = jnp.linalg.norm(news - told, axis=-1) > self.thrift
        due = (memory.time % self.every == 0) if self.every else jnp.zeros_like(heard)
        sent = due & (moved | ~heard) & view.present
        told = jnp.where(sent[..., None], news, told)
        own = self.actor.recall(own, view.observations)
        now = CoachedMemory(own, told, heard | sent, memory.time + 1)
        return now, self.actor.says_told(own, told), sent
