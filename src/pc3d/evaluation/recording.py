"""Whole episodes with everything in them: states, rewards, and what each agent made of its context."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from pc3d.networks.build import PolicyNetworks
from pc3d.networks.context_health import cosine
from pc3d.networks.teacher import Reading
from pc3d.play.arena import Arena, played
from pc3d.play.episode import Episode, draws_of
from pc3d.play.presence import joined
from pc3d.play.rota import has_rota
from pc3d.play.talking_team import team_of
from pc3d.tasks.arrays import AnyArray
from pc3d.tasks.task import AnyTask, Game, Task


class ContextUse(eqx.Module):
    """How open each agent's gate was, the context it had, and what the averaged teacher made of the team."""

    gate: Float[AnyArray, "*episode time agent"]
    student: Float[AnyArray, "*episode time agent context"]
    reading: Reading

    @property
    def teacher(self) -> Float[AnyArray, "*episode time agent context"]:
        return self.reading.contexts

    @property
    def alignment(self) -> Float[np.ndarray, "*episode time agent"]:
        """The cosine between the two contexts."""
        return np.asarray(cosine(self.student, self.teacher))

    def first(self, steps: int, agents: int) -> ContextUse:
        """Of one episode, so many steps and agents."""
        cut: ContextUse = jax.tree.map(lambda values: values[:steps, :agents], self)
        # Tokens alone are nobody's own.
        return eqx.tree_at(lambda use: use.reading.tokens, cut, self.reading.tokens[:steps])


class Recording(eqx.Module):
    """Episodes of one team size; `one` takes out a single one, without the episode axis."""

    team_size: int = eqx.field(static=True)
    states: Any  # arrays over (episode, moment, ...), the start first; None for worlds on the host
    present: Bool[AnyArray, "*episode moment agent"]
    played: Bool[AnyArray, "*episode time"]  # false after an episode's end
    rewards: Float[AnyArray, "*episode time"]
    returns: Float[AnyArray, "*episode"]
    context: ContextUse | None

    @property
    def decisions(self) -> Bool[np.ndarray, "*episode time agent"]:
        """Who was there and had to act."""
        return np.asarray(self.present)[..., :-1, :] & np.asarray(self.played)[..., None]

    def one(self, episode: int) -> Recording:
        """That episode, without what lies after its end and without the slots that nobody ever fills."""
        single = jax.tree.map(lambda values: values[episode], self)
        steps = int(single.played.sum())
        ever = np.asarray(single.present[: steps + 1]).any(axis=0)
        agents = int(np.max(np.flatnonzero(ever), initial=-1)) + 1
        return Recording(
            self.team_size,
            jax.tree.map(lambda values: values[: steps + 1], single.states),
            single.present[: steps + 1, :agents],
            single.played[:steps],
            single.rewards[:steps],
            single.returns,
            single.context and single.context.first(steps, agents),
        )


def record(
    arena: Arena,
    networks: PolicyNetworks,
    keys: Key[Array, " episode"],
    team_size: int,
    *,
    greedy: bool = False,
) -> Recording:
    """Play the episodes of these keys and keep everything; worlds on the host keep their states."""
    team, sizes = team_of(networks.actor, greedy=greedy), np.full(len(keys), team_size, np.int32)
    beside = (networks, keys, jnp.asarray(team_size))
    seen = played(arena, team, keys, sizes, _everything, beside)
    return Recording(team_size, *seen)


def _everything(
    game: Game, episodes: Episode, beside: tuple[PolicyNetworks, Key[Array, " episode"], Int[Array, ""]]
) -> tuple[Any, ...]:
    networks, keys, team_size = beside
    states = _states(game, keys, episodes) if isinstance(game, Task) else None
    returns = game.reported_return(jnp.asarray(episodes.total_reward), team_size)
    context = context_use(game, networks, episodes)
    return states, episodes.present, episodes.played, episodes.rewards, returns, context


def _states(task: AnyTask, keys: Key[Array, " episode"], episodes: Episode) -> Any:
    """The start and the state after every step: the episodes' actions played once more."""
    draws = draws_of(task, keys)
    actions, present = (jnp.moveaxis(part, 1, 0) for part in (episodes.actions, episodes.present))
    first, following = (present[0], present[1:]) if has_rota(task) else (None, None)
    start = jax.vmap(task.begin)(draws.start, episodes.team_size, first)

    def step(state: Any, drawn: tuple[Key[Array, " episode"], Array, Array | None]) -> tuple[Any, Any]:
        keys, actions, present = drawn
        state, _ = jax.vmap(task.advance)(keys, state, actions, present)
        return state, state

    _, later = jax.lax.scan(step, start, (draws.steps, actions, following))
    return jax.tree.map(
        lambda first, rest: jnp.moveaxis(jnp.concatenate([first[None], rest]), 0, 1), start, later
    )


def context_use(game: Game, networks: PolicyNetworks, episodes: Episode) -> ContextUse | None:
    """Look into every decision of the episodes; None for a method without contexts."""
    actor, teacher = networks.actor, networks.teacher
    seen, present = jnp.asarray(episodes.observations[:, :-1]), jnp.asarray(episodes.present[:, :-1])
    fresh = joined(present) if game.roster_changes else None
    policy = actor.says(actor.over_episodes(seen, fresh))
    if policy.context is None or policy.gate is None or teacher is None:
        return None
    return ContextUse(policy.gate, policy.context, teacher.read(seen, present))
