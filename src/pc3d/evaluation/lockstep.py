"""Episodes played on the host, step by step and side by side: for original worlds and for scripted players.

A compiled program cannot hold either of them. Draws are those of `rollout.play`, so that the same policy
plays the same episodes here and there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from pc3d.evaluation.scores import Scores
from pc3d.networks.actor import Actor
from pc3d.rollout import Draws, choose, draws_of
from pc3d.tasks.originals import original_world
from pc3d.tasks.task import AnyTask, Outcome, WorldState

Observations = Float[np.ndarray, "rollout agent observation"]
Actions = Int[np.ndarray, "rollout agent"]


class Worlds(Protocol):
    """Several episodes of one team size; every slot is taken."""

    def states(self) -> list[Any]: ...
    def observations(self) -> Observations: ...
    def step(self, keys: PRNGKeyArray, actions: Actions) -> Outcome: ...


MakeWorlds = Callable[[AnyTask, WorldState], Worlds]  # from a task and starts with a rollout axis


class Team(Protocol):
    """Whoever acts in all of them."""

    def act(self, worlds: Worlds, chances: Float[Array, "rollout agent"]) -> Actions: ...


class Record:
    """What happened, as arrays over (rollout, time)."""

    def __init__(
        self, actions: list[Actions], outcomes: list[Outcome], played: list[Bool[np.ndarray, " rollout"]]
    ) -> None:
        self.played = np.stack(played, axis=1)
        self.actions = np.stack(actions, axis=1)
        self.rewards = np.stack([outcome.reward for outcome in outcomes], axis=1) * self.played
        self.measures = {
            name: np.stack([outcome.measures[name] for outcome in outcomes], axis=1) * self.played
            for name in outcomes[0].measures
        }

    def scores(self, task: AnyTask) -> Scores:
        returns = np.asarray(task.reported_return(self.rewards.sum(axis=1), jnp.asarray(task.slots)))
        return Scores(returns, {name: values.sum(axis=1) for name, values in self.measures.items()})


def play_in_lockstep(task: AnyTask, keys: PRNGKeyArray, make_worlds: MakeWorlds, team: Team) -> Record:
    """Play the episodes of these keys to their ends; the task has as many slots as the team has agents."""
    draws, starts = _begin(task, keys)
    worlds = make_worlds(task, starts)
    going = np.ones(len(keys), bool)
    actions, outcomes, played = [], [], []
    for time in range(task.horizon):
        actions.append(team.act(worlds, draws.chances[:, time]))
        outcomes.append(worlds.step(draws.steps[:, time], actions[-1]))
        played.append(going)
        going = going & ~(outcomes[-1].terminated | outcomes[-1].truncated)
        if not going.any():
            break
    return Record(actions, outcomes, played)


class PortWorlds:
    """The port, all episodes in one array."""

    def __init__(self, task: AnyTask, states: WorldState) -> None:
        self._task, self._states = task, states

    def states(self) -> list[WorldState]:
        states = jax.device_get(self._states)
        return [
            jax.tree.map(lambda values, place=place: values[place], states)
            for place in range(len(states.time))
        ]

    def observations(self) -> Observations:
        return np.asarray(_observe(self._task, self._states))

    def step(self, keys: PRNGKeyArray, actions: Actions) -> Outcome:
        self._states, outcome = _step(self._task, keys, self._states, jnp.asarray(actions))
        return jax.device_get(outcome)


class OriginalWorlds:
    """The original package, one object per episode; its free choices are made as the port makes them."""

    def __init__(self, task: AnyTask, states: WorldState) -> None:
        self._worlds = [original_world(task) for _ in range(len(states.time))]
        self._last: list[Outcome | None] = [None] * len(self._worlds)
        for world, state in zip(self._worlds, PortWorlds(task, states).states(), strict=True):
            world.load(state)

    def states(self) -> list[Any]:
        return [world.read() for world in self._worlds]

    def observations(self) -> Observations:
        return np.stack([world.observe() for world in self._worlds])

    def step(self, keys: PRNGKeyArray, actions: Actions) -> Outcome:
        for place, world in enumerate(self._worlds):
            last = self._last[place]
            if last is None or not (last.terminated or last.truncated):  # originals refuse to go on
                world.follow(keys[place])
                self._last[place] = world.step(actions[place])
        return jax.tree.map(lambda *values: np.stack(values), *self._last)


class ActorTeam:
    """A trained actor in every slot, with its memories."""

    def __init__(self, actor: Actor, *, greedy: bool) -> None:
        self._actor, self._greedy = actor, greedy
        self._memory: Float[Array, "rollout agent h"] | None = None

    def act(self, worlds: Worlds, chances: Float[Array, "rollout agent"]) -> Actions:
        observations = jnp.asarray(worlds.observations(), jnp.float32)
        if self._memory is None:
            self._memory = self._actor.first_memory(*chances.shape)
        self._memory, actions = _decide(self._greedy, self._actor, self._memory, observations, chances)
        return np.asarray(actions)


@partial(jax.jit, static_argnums=0)
def _begin(task: AnyTask, keys: PRNGKeyArray) -> tuple[Draws, WorldState]:
    draws = jax.vmap(partial(draws_of, task))(keys)
    return draws, jax.vmap(lambda key: task.reset(key, task.slots))(draws.start)


@partial(jax.jit, static_argnums=0)
def _decide(
    greedy: bool, actor: Actor, memory: Array, observations: Array, chances: Array
) -> tuple[Float[Array, "rollout agent h"], Int[Array, "rollout agent"]]:
    memory, policy = actor.step(memory, observations)
    actions, _ = choose(policy.logits, chances, greedy=greedy)
    return memory, actions


@partial(jax.jit, static_argnums=0)
def _observe(task: AnyTask, states: WorldState) -> Float[Array, "rollout agent observation"]:
    return jax.vmap(task.observe)(states)


@partial(jax.jit, static_argnums=0)
def _step(
    task: AnyTask, keys: PRNGKeyArray, states: WorldState, actions: Int[Array, "rollout agent"]
) -> tuple[WorldState, Outcome]:
    return jax.vmap(task.step)(keys, states, actions)
