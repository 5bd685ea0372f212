"""Whole episodes with everything in them: states, rewards, and what each agent made of its context."""

from __future__ import annotations

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from pc3d.hosted.crew import Crew
from pc3d.lockstep import ActorTeam, Begin, on_host, play_in_lockstep
from pc3d.networks.actor import Actor
from pc3d.networks.teacher import Teacher
from pc3d.rollout import Episode, draws_of, play
from pc3d.tasks import playable
from pc3d.tasks.task import AnyTask, Game


class ContextUse(eqx.Module):
    """How open each agent's gate was, the context it had, and the one the averaged teacher had for it."""

    gate: Float[Array, "*episode time agent"]
    student: Float[Array, "*episode time agent context"]
    teacher: Float[Array, "*episode time agent context"]

    @property
    def alignment(self) -> Float[np.ndarray, "*episode time agent"]:
        """The cosine between the two contexts."""
        return cosine(np.asarray(self.student), np.asarray(self.teacher))


class Recording(eqx.Module):
    """Episodes of one team size; `one` takes out a single one, without the episode axis."""

    team_size: int = eqx.field(static=True)
    states: Any  # arrays over (episode, moment, ...), the start first; None for worlds on the host
    played: Bool[Array, "*episode time"]  # false after an episode's end
    rewards: Float[Array, "*episode time"]
    returns: Float[Array, "*episode"]
    context: ContextUse | None

    def one(self, episode: int) -> Recording:
        """That episode, without what lies after its end and without the slots that nobody fills."""
        single = jax.tree.map(lambda values: values[episode], self)
        steps, agents = int(single.played.sum()), self.team_size
        use = jax.tree.map(lambda values: values[:steps, :agents], single.context)
        states = jax.tree.map(lambda values: values[: steps + 1], single.states)
        return Recording(agents, states, single.played[:steps], single.rewards[:steps], single.returns, use)


def record(
    task: Game,
    actor: Actor,
    teacher: Teacher | None,
    keys: PRNGKeyArray,
    team_size: int,
    *,
    greedy: bool = False,
    crew: Crew | None = None,
) -> Recording:
    """Play the episodes of these keys, in the worlds of the crew if there is one, and keep everything."""
    if crew is not None:
        return record_on_host(task, actor, teacher, keys, team_size, on_host(crew), greedy=greedy)
    played = _record(playable(task), greedy, actor, teacher, keys, jnp.asarray(team_size))
    states, steps, rewards, returns, context = jax.device_get(played)
    return Recording(team_size, states, steps, rewards, returns, context)


def record_on_host(
    task: Game,
    actor: Actor,
    teacher: Teacher | None,
    keys: PRNGKeyArray,
    team_size: int,
    begin: Begin,
    *,
    greedy: bool,
) -> Recording:
    """The same for worlds on the host: all but their states."""
    team = ActorTeam(actor, greedy=greedy)
    episodes = play_in_lockstep(task, keys, np.full(len(keys), team_size), begin, team)
    returns = task.reported_return(jnp.asarray(episodes.total_reward), jnp.asarray(team_size))
    context = jax.device_get(_context_use(actor, teacher, episodes))
    return Recording(team_size, None, episodes.played, episodes.rewards, jax.device_get(returns), context)


@partial(jax.jit, static_argnums=(0, 1))
def _record(
    task: AnyTask,
    greedy: bool,
    actor: Actor,
    teacher: Teacher | None,
    keys: PRNGKeyArray,
    team_size: Int[Array, ""],
) -> tuple[Any, ...]:
    episodes = jax.vmap(lambda key: play(task, actor, key, team_size, greedy=greedy))(keys)
    states = jax.vmap(lambda key, actions: _states(task, key, team_size, actions))(keys, episodes.actions)
    returns = task.reported_return(episodes.total_reward, team_size)
    return states, episodes.played, episodes.rewards, returns, context_use(actor, teacher, episodes)


def context_use(actor: Actor, teacher: Teacher | None, episodes: Episode) -> ContextUse | None:
    """Look into every decision of the episodes; None for a method without contexts."""
    seen = episodes.observations[:, :-1]
    features = actor.remember(actor.first_memory(*episodes.active.shape), seen)
    policy = actor.conditioning(features)
    if policy.context is None or policy.gate is None or teacher is None:
        return None
    active = jnp.broadcast_to(episodes.active[:, None], seen.shape[:-1])
    return ContextUse(policy.gate, policy.context, teacher.contexts(seen, active))


_context_use = jax.jit(context_use)


def cosine(
    one: Float[np.ndarray, "... context"], other: Float[np.ndarray, "... context"]
) -> Float[np.ndarray, "..."]:
    """Of the angle between two vectors; 0 where one of them is zero."""
    return np.sum(directions(one) * directions(other), axis=-1)


def directions(vectors: Float[np.ndarray, "... context"]) -> Float[np.ndarray, "... context"]:
    """The vectors with length 1; zeros stay what they are."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def _states(task: AnyTask, key: PRNGKeyArray, team_size: Array, actions: Int[Array, "time agent"]) -> Any:
    """The start and the state after every step: the episode's actions played once more."""
    draws = draws_of(task, key)
    start = task.reset(draws.start, team_size)

    def step(state: Any, drawn: tuple[PRNGKeyArray, Array]) -> tuple[Any, Any]:
        state, _ = task.step(drawn[0], state, drawn[1])
        return state, state

    _, later = jax.lax.scan(step, start, (draws.steps, actions))
    return jax.tree.map(lambda first, rest: jnp.concatenate([first[None], rest]), start, later)
