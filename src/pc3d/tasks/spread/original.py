"""Simple Spread by mpe2 itself, behind the port's interface."""

from typing import Any

import jax
import numpy as np
from jaxtyping import Float, Int

from pc3d.tasks.arrays import AnyArray
from pc3d.tasks.original_world import OriginalWorld
from pc3d.tasks.spread.rules import CAPABILITIES, NEIGHBOURS
from pc3d.tasks.spread.world import Spread, SpreadState
from pc3d.tasks.task import Outcome

NATIVE_WIDTH = Spread().observation_width


class OriginalSpread(OriginalWorld[SpreadState]):
    """mpe2's simple_spread_v3 with its own nearest-neighbour view; messages, always zero, are cut off."""

    package = "mpe2"
    task: Spread

    def __init__(self, task: Spread) -> None:
        super().__init__(task)
        self._names = list(self._environment.possible_agents)
        self._inner = self._environment.unwrapped

    def _made(self) -> Any:
        from mpe2 import simple_spread_v3

        return simple_spread_v3.parallel_env(
            N=self.team_size,
            local_ratio=1.0,  # the package's rewards are then each agent's own collisions, unscaled
            max_cycles=self.task.horizon,
            num_landmark_neighbors=NEIGHBOURS,
            num_agent_neighbors=NEIGHBOURS,
        )

    def reset(self, seed: int) -> None:
        self._enable(self.task.drawn_capabilities(jax.random.key(seed), self.team_size))
        self._views, _ = self._environment.reset(seed=seed)

    def _enable(self, capabilities: AnyArray | None) -> None:
        """Make the package's agents as able as this says."""
        if capabilities is None:
            return
        agents = self._environment.unwrapped.world.agents
        for agent, able in zip(agents, np.asarray(capabilities, float), strict=True):
            agent.size, agent.accel, agent.max_speed, agent.initial_mass = map(float, able)

    def load(self, state: SpreadState) -> None:
        if not self._environment.agents:  # the last episode is over
            self._environment.reset()
        world = self._inner.world
        # The package changes positions in place, so each gets an array of its own.
        for slot, agent in enumerate(world.agents):
            agent.state.p_pos = np.array(state.positions[slot], np.float64)
            agent.state.p_vel = np.array(state.velocities[slot], np.float64)
        for slot, landmark in enumerate(world.landmarks):
            landmark.state.p_pos = np.array(state.landmarks[slot], np.float64)
        self._enable(state.capabilities)
        self._inner.steps = int(state.time)
        self._views = {name: self._inner.observe(name) for name in self._names}

    def read(self) -> SpreadState:
        world = self._inner.world
        return SpreadState(
            team_size=np.int32(self.team_size),
            time=np.int32(self._inner.steps),
            positions=np.array([agent.state.p_pos for agent in world.agents]),
            velocities=np.array([agent.state.p_vel for agent in world.agents]),
            landmarks=np.array([landmark.state.p_pos for landmark in world.landmarks]),
            capabilities=np.array([_able(agent) for agent in world.agents]) if self.task.unlike else None,
        )

    def observe(self) -> Float[np.ndarray, "agent observation"]:
        views = np.stack([self._views[name] for name in self._names])[:, :NATIVE_WIDTH]
        if self.task.cast.seen == "none":
            return views
        able = [self._capabilities_seen(agent) for agent in self._inner.world.agents]
        return np.concatenate([views, np.array(able, views.dtype)], axis=-1)

    def _capabilities_seen(self, agent: Any) -> Float[np.ndarray, " number"]:
        """Those of the agent, and of whom the package calls nearest."""
        from mpe2._mpe_utils.partial_observability import nearest_entities

        shown = [agent]
        if self.task.cast.seen == "visible":
            others = [other for other in self._inner.world.agents if other is not agent]
            shown += nearest_entities(agent, others, NEIGHBOURS)
        values = np.array([_able(one) for one in shown])
        low, high = np.array([(one.low, one.high) for one in CAPABILITIES]).T
        seen = ((np.clip(values, low, high) - low) / (high - low)).ravel()
        return np.pad(seen, (0, self.task.observation_width - NATIVE_WIDTH - seen.size))

    def step(self, actions: Int[np.ndarray, " agent"]) -> Outcome:
        choices = {name: int(action) for name, action in zip(self._names, actions, strict=True)}
        self._views, penalties, terminated, truncated, _ = self._environment.step(choices)
        coverage = self._inner.scenario.global_reward(self._inner.world)
        collisions = np.array([penalties[name] for name in self._names])
        return Outcome(
            reward=np.float64(coverage + self._collision_reward(collisions)),
            terminated=np.bool_(any(terminated.values())),
            truncated=np.bool_(any(truncated.values())),
            measures={
                "landmark_distance": np.float64(-coverage),
                "colliding_pairs": np.float64(-collisions.sum() / 2),
            },
        )

    def _collision_reward(self, collisions: Float[np.ndarray, " agent"]) -> float:
        if self.task.collisions == "mean":
            return float(collisions.mean())
        # Each colliding pair is in the sum twice, once for each of the two.
        return float(collisions.sum()) / (2 if self.task.collisions == "pairs" else 1)


def _able(agent: Any) -> tuple[float, ...]:
    """What the package says an agent is able to do, in the order of the task's capabilities."""
    return agent.size, agent.accel, agent.max_speed, agent.mass
