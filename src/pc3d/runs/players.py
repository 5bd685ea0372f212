"""A trained policy at play, outside of any loop of ours: one agent, or a whole team, a moment at a time."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pc3d.networks.actor import Actor
from pc3d.play.actor_team import ActorTeam
from pc3d.play.team import View
from pc3d.system.errors import BadInput


class Players:
    """Agents that act side by side, each from what it alone has seen since `reset`."""

    def __init__(self, actor: Actor, team_size: int, *, seed: int = 0, greedy: bool = False) -> None:
        if team_size < 1:
            raise BadInput(f"a team has at least 1 agent, not {team_size}")
        self._team, self._size = ActorTeam(actor, greedy), team_size
        self._width = actor.encoder.layers[0].weight.shape[-2]
        self._chance = np.random.default_rng(seed)
        self.reset()

    def reset(self) -> None:
        """Begin another episode: everybody forgets. The draws go on."""
        self._memory = self._team.first(1, self._size)

    def act(self, observations: Any) -> Int[np.ndarray, " agent"]:
        """Everybody's action, from everybody's observation, in the same order every time."""
        try:
            seen = np.asarray(observations, np.float32)
        except (TypeError, ValueError):
            raise BadInput("an observation is made of numbers, equally many for everybody") from None
        if seen.shape != (self._size, self._width):
            raise BadInput(
                f"{self._size} agents see {self._width} numbers each, not an array of shape {seen.shape}"
            )
        chances = self._chance.random((1, self._size), np.float32)
        self._memory, actions = _step(self._team, self._memory, seen[None], chances)
        return np.asarray(actions[0])


class Agent:
    """One agent by itself: as it would run on a robot of its own."""

    def __init__(self, actor: Actor, *, seed: int = 0, greedy: bool = False) -> None:
        self._players = Players(actor, 1, seed=seed, greedy=greedy)

    def reset(self) -> None:
        """Begin another episode."""
        self._players.reset()

    def act(self, observation: Sequence[float] | np.ndarray) -> int:
        """The next action, from this observation and all since `reset`."""
        return int(self._players.act([observation])[0])


@jax.jit
def _step(
    team: ActorTeam,
    memory: Float[Array, "1 agent h"],
    observations: Float[Array, "1 agent observation"],
    chances: Float[Array, "1 agent"],
) -> tuple[Float[Array, "1 agent h"], Int[Array, "1 agent"]]:
    memory, decision = team.step(memory, View(observations, jnp.ones(chances.shape, bool)), chances)
    return memory, decision.actions
