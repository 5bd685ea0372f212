"""The port's worlds in lockstep, for scripted players, who see whole states and cannot be compiled."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from pc3d.lockstep import Keys, Observations
from pc3d.tasks import playable
from pc3d.tasks.task import AnyTask, Game, Outcome, WorldState


class PortWorlds:
    """All episodes in one array; every slot is taken."""

    def __init__(self, game: Game, keys: Keys, team_sizes: Int[np.ndarray, " episode"]) -> None:
        assert (team_sizes == game.slots).all()
        self._task = playable(game)
        self._states = _begin(self._task, jnp.asarray(keys))

    def states(self) -> list[WorldState]:
        states = jax.device_get(self._states)
        return [
            jax.tree.map(lambda values, place=place: values[place], states)
            for place in range(len(states.time))
        ]

    def observations(self) -> Observations:
        return np.asarray(_observe(self._task, self._states))

    def step(
        self, going: Bool[np.ndarray, " episode"], keys: Keys, actions: Int[np.ndarray, "episode agent"]
    ) -> Outcome:
        del going  # a step too many does no harm here
        self._states, outcome = _step(self._task, jnp.asarray(keys), self._states, jnp.asarray(actions))
        return jax.device_get(outcome)


@partial(jax.jit, static_argnums=0)
def _begin(task: AnyTask, keys: Array) -> WorldState:
    return jax.vmap(lambda key: task.reset(key, task.slots))(jax.random.wrap_key_data(keys))


@partial(jax.jit, static_argnums=0)
def _observe(task: AnyTask, states: WorldState) -> Float[Array, "rollout agent observation"]:
    return jax.vmap(task.observe)(states)


@partial(jax.jit, static_argnums=0)
def _step(
    task: AnyTask, keys: Array, states: WorldState, actions: Int[Array, "rollout agent"]
) -> tuple[WorldState, Outcome]:
    return jax.vmap(task.step)(jax.random.wrap_key_data(keys), states, actions)
