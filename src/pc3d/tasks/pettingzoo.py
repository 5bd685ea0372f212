"""Each task as a PettingZoo environment, so that other frameworks can train on open teams.

Every agent gets the shared team reward; the time limit is a truncation.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Num, PRNGKeyArray

from pc3d.experiment.action_space import ActionSpace
from pc3d.experiment.action_space import Box as Numbers
from pc3d.experiment.rosters import Curriculum, Stage
from pc3d.system.errors import BadInput, MissingExtra
from pc3d.tasks.registry import entry_of
from pc3d.tasks.task import AnyTask, Outcome

try:
    from gymnasium.spaces import Box, Discrete
    from pettingzoo import ParallelEnv
except ImportError as error:
    raise MissingExtra("pettingzoo", "originals") from error

State = Any


def parallel_env(task_name: str, team_size: int) -> "TeamEnvironment":
    """The task with the same number of agents in every episode."""
    return open_team_env(task_name, [team_size])


def open_team_env(
    task_name: str, team_sizes: Sequence[int], probabilities: Sequence[float] | None = None, seed: int = 0
) -> "TeamEnvironment":
    """The task with a team size drawn for each episode; without probabilities, all are equally likely."""
    task = entry_of(task_name).task_class
    if not team_sizes:
        raise BadInput("at least one team size is needed")
    for size in team_sizes:
        task(slots=size)  # says what is wrong with the size, if anything is
    if probabilities is None:
        probabilities = [1 / len(team_sizes)] * len(team_sizes)
    stage = Stage(1.0, tuple(team_sizes), tuple(probabilities))
    return TeamEnvironment(task(slots=stage.largest), Curriculum((stage,)), seed)


class TeamEnvironment(ParallelEnv):
    """Agents keep their names over episodes: a team of n is the first n of `possible_agents`."""

    def __init__(self, task: AnyTask, curriculum: Curriculum, seed: int) -> None:
        self.metadata = {"name": task.name, "render_modes": ["rgb_array"]}
        self.render_mode = "rgb_array"
        self.task = task
        self.possible_agents = [f"agent_{slot}" for slot in range(task.slots)]
        self.agents: list[str] = []
        self._curriculum = curriculum
        self._seed, self._episode = seed, 0
        self._state: State = None
        view = (task.observation_width,)
        self._views = {name: Box(-np.inf, np.inf, view, np.float32) for name in self.possible_agents}
        self._choices = {name: _own_space(task.action_space) for name in self.possible_agents}

    def observation_space(self, agent: str) -> Box:
        return self._views[agent]

    def action_space(self, agent: str) -> Discrete | Box:
        return self._choices[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, dict[str, Any]]]:
        """Begin the next episode; with a seed, the first one of that seed."""
        del options
        if seed is not None:
            self._seed, self._episode = seed, 0
        team_size = self._curriculum.team_size(self._seed, self._episode, episodes=1)
        self._key = jax.random.fold_in(jax.random.key(self._seed), self._episode)
        self._episode += 1
        self._key, reset_key = jax.random.split(self._key)
        self._state, views = _begin(self.task, reset_key, team_size)
        self.agents = self.possible_agents[:team_size]
        infos = {name: {"team_size": team_size, **mask} for name, mask in self._masks(self.agents).items()}
        return self._by_agent(views), infos

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[
        dict[str, np.ndarray], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]
    ]:
        if not self.agents:
            return {}, {}, {}, {}, {}
        self._key, step_key = jax.random.split(self._key)
        self._state, views, outcome = _advance(self.task, step_key, self._state, self._padded(actions))
        outcome = jax.device_get(outcome)
        team, seen = self.agents, self._by_agent(views)
        terminated, truncated = bool(outcome.terminated), bool(outcome.truncated)
        if terminated or truncated:
            self.agents = []
        measures = {name: float(value) for name, value in outcome.measures.items()}
        return (
            seen,
            dict.fromkeys(team, float(outcome.reward)),
            dict.fromkeys(team, terminated),
            dict.fromkeys(team, truncated),
            {name: {**measures, **mask} for name, mask in self._masks(team).items()},
        )

    def state(self) -> np.ndarray:
        """The whole state as one vector, of the same width for every team size."""
        return np.asarray(self.task.global_state(self._state), np.float32)

    def render(self) -> np.ndarray:
        return self.task.draw(self._state)

    def _padded(self, actions: dict[str, Any]) -> Num[np.ndarray, " agent *number"]:
        missing = [name for name in self.agents if name not in actions]
        if missing:
            raise BadInput(f"every agent of the team needs an action, but {', '.join(missing)} got none")
        space = self.task.action_space
        padded = np.zeros((self.task.slots, *space.shape), space.dtype)
        padded[: len(self.agents)] = [actions[name] for name in self.agents]
        return padded

    def _masks(self, team: list[str]) -> dict[str, dict[str, np.ndarray]]:
        """What everybody is told of allowed actions; nothing where the task has no masks."""
        if not self.task.action_space.masked:
            return {name: {} for name in team}
        allowed = np.asarray(_allowed(self.task, self._state), np.int8)
        return {name: {"action_mask": mask} for name, mask in zip(team, allowed, strict=False)}

    def _by_agent(self, views: Float[Array, "agent observation"]) -> dict[str, np.ndarray]:
        return dict(zip(self.agents, np.asarray(views, np.float32), strict=False))


def _own_space(space: ActionSpace) -> Discrete | Box:
    """Ours as the package has it."""
    if isinstance(space, Numbers):
        return Box(np.array(space.low, np.float32), np.array(space.high, np.float32), dtype=np.float32)
    return Discrete(space.width)


@partial(jax.jit, static_argnames="task")
def _allowed(task: AnyTask, state: State) -> Bool[Array, "agent action"]:
    return task.available_actions(state)


@partial(jax.jit, static_argnames="task")
def _begin(
    task: AnyTask, key: PRNGKeyArray, team_size: int | Int[Array, ""]
) -> tuple[State, Float[Array, "agent observation"]]:
    state = task.reset(key, team_size)
    return state, task.observe(state)


@partial(jax.jit, static_argnames="task")
def _advance(
    task: AnyTask, key: PRNGKeyArray, state: State, actions: Num[Array, " agent *number"]
) -> tuple[State, Float[Array, "agent observation"], Outcome]:
    state, outcome = task.step(key, state, jnp.asarray(actions))
    return state, task.observe(state), outcome
