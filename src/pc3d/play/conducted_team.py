"""A shared actor in every slot; now and then some are elected conductors, and others gather around them."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from pc3d.experiment.execution import IN_SIGHT, Execution, LinkLoss
from pc3d.networks.conditioning import PolicyOutput
from pc3d.networks.conducted_actor import ConductedActor
from pc3d.play.actor_team import still_remembered
from pc3d.play.choosing import acting_of
from pc3d.play.hashed_draws import normal_draws, uniform_draws
from pc3d.play.team import Decision, View


class ConductedMemory(eqx.Module):
    """What everybody remembers, what came back from its group last, and the time."""

    own: Float[Array, "episode agent h"]
    told: Float[Array, "episode agent number"]
    grouped: Bool[Array, "episode agent"]
    """Whose group has anybody else."""
    time: Int[Array, "episode agent"]


class Election(eqx.Module):
    """Who gathers around whom."""

    member: Bool[Array, "episode agent conductor"]
    conducted: Bool[Array, "episode agent"]

    @classmethod
    def drawn(
        cls,
        draws: Float[Array, "episode agent draw"],
        links: Bool[Array, "episode agent agent"],
        conductors: float,
    ) -> Election:
        """Each is elected with c/n; the others choose anyone whom they see, if they see one."""
        present = jnp.diagonal(links, axis1=-2, axis2=-1)
        size = jnp.maximum(jnp.sum(present, axis=-1, keepdims=True), 1)
        elected = present & (draws[..., 0] < conductors / size)
        own = jnp.eye(links.shape[-1], dtype=bool)
        # Whoever is elected follows itself alone.
        heard = links & elected[..., None, :] & (own | ~elected[..., :, None])
        chosen = jnp.argmax(jnp.where(heard, draws[..., 1:], -1), axis=-1)
        conducted = jnp.any(heard, axis=-1)
        member = (chosen[..., None] == jnp.arange(links.shape[-1])) & conducted[..., None]
        return cls(member, conducted)

    def returned(self, said: Float[Array, "episode agent number"]) -> Float[Array, "episode agent number"]:
        """The mean of what a group said, for all of it; to whoever has none, its own word."""
        count = jnp.maximum(jnp.sum(self.member, axis=-2), 1)
        shares = self.member.astype(said.dtype)
        mean = jnp.einsum("eic,eid->ecd", shares, said) / count[..., None]
        return jnp.where(self.conducted[..., None], jnp.einsum("eic,ecd->eid", shares, mean), said)

    @property
    def messages(self) -> Int[Array, "episode agent"]:
        """How many everybody hears: a conductor those of its group, the others what it sends back."""
        own = jnp.eye(self.member.shape[-1], dtype=bool)
        leads = jnp.sum(self.member & ~own, axis=-2)
        follows = self.conducted & ~jnp.any(self.member & own, axis=-1)
        return leads + follows


class ConductedTeam(eqx.Module):
    """One actor for all; whoever joins between two elections has heard nothing until the next."""

    execution: ClassVar[Execution] = IN_SIGHT
    actor: ConductedActor
    greedy: bool = eqx.field(static=True, default=False)
    loss: LinkLoss = eqx.field(static=True, default=LinkLoss())
    draws: bool = eqx.field(static=True, default=False)
    """Whether messages are drawn, as while learning, or are their means."""

    def first(self, episodes: int, slots: int) -> ConductedMemory:
        places = (episodes, slots)
        return ConductedMemory(
            self.actor.first_memory(episodes, slots),
            jnp.zeros((*places, self.actor.told_width)),
            jnp.zeros(places, bool),
            jnp.zeros(places, jnp.int32),
        )

    def step(
        self, memory: ConductedMemory, view: View, chances: Float[Array, "episode agent"]
    ) -> tuple[ConductedMemory, Decision]:
        memory, policy, heard = self.listens(memory, view, chances)
        greedy = self.greedy or self.actor.values_actions
        actions, _ = acting_of(self.actor).decide(policy.logits, chances, view.allowed, greedy=greedy)
        return memory, Decision(actions, {"heard": heard})

    def listens(
        self, memory: ConductedMemory, view: View, chances: Float[Array, "episode agent"]
    ) -> tuple[ConductedMemory, PolicyOutput, Int[Array, "episode agent"]]:
        """What everybody remembers now and says, and how many messages it has just heard."""
        assert view.links is not None, "a team that talks is told who hears whom"
        links, settings = jnp.asarray(view.links), self.actor.conducting
        own, told = still_remembered((memory.own, memory.told), view)
        grouped = memory.grouped if view.joined is None else memory.grouped & ~view.joined
        message = self.actor.message(view.observations)
        said = message.drawn(normal_draws(chances, settings.width)) if self.draws else message.mean
        said = jnp.where(jnp.asarray(view.present)[..., None], said, 0)
        draws = uniform_draws(chances, links.shape[-1] + 1)
        election = Election.drawn(draws, links, settings.conductors)
        due = memory.time % settings.every == 0
        told = jnp.where(due[..., None], election.returned(said), told)
        grouped = jnp.where(due, election.messages > 0, grouped)
        own = self.actor.recall(own, view.observations)
        now = ConductedMemory(own, told, grouped, memory.time + 1)
        return now, self.actor.says_told(own, told), jnp.where(due, election.messages, 0)
