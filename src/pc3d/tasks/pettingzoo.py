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
from pc3d.experiment.named_rosters import roster_named
from pc3d.experiment.roster_process import CONSTANT, RosterProcess
from pc3d.experiment.rosters import Curriculum, Stage
from pc3d.system.errors import BadInput, MissingExtra
from pc3d.tasks.presence import presence_in
from pc3d.tasks.registry import entry_of
from pc3d.tasks.task import AnyTask, Outcome

try:
    from gymnasium.spaces import Box, Discrete
    from pettingzoo import ParallelEnv
except ImportError as error:
    raise MissingExtra("pettingzoo", "originals") from error

State = Any


def parallel_env(
    task_name: str, team_size: int, *, roster: RosterProcess | str = CONSTANT, horizon: int | None = None
) -> "TeamEnvironment":
    """The task with the same number of agents at the start of every episode."""
    return open_team_env(task_name, [team_size], roster=roster, horizon=horizon)


def open_team_env(
    task_name: str,
    team_sizes: Sequence[int],
    probabilities: Sequence[float] | None = None,
    seed: int = 0,
    *,
    roster: RosterProcess | str = CONSTANT,
    horizon: int | None = None,
) -> "TeamEnvironment":
    """The task with a team size drawn for each episode; without probabilities, all are equally likely.

    By a roster process, or its name, the team changes within an episode.
    """
    task = entry_of(task_name).task_class
    settings: dict[str, Any] = {} if horizon is None else {"horizon": horizon}
    if not team_sizes:
        raise BadInput("at least one team size is needed")
    for size in team_sizes:
        task(slots=size, **settings)  # says what is wrong with the size, if anything is
    if probabilities is None:
        probabilities = [1 / len(team_sizes)] * len(team_sizes)
    stage = Stage(1.0, tuple(team_sizes), tuple(probabilities))
    process = roster_named(roster) if isinstance(roster, str) else roster
    for size in team_sizes:
        process.check(size, task.fewest_present, task(slots=size, **settings).horizon)
    slots = max(process.limits(size, task.fewest_present).slots for size in team_sizes)
    return TeamEnvironment(task(slots=slots, **settings).with_roster(process), Curriculum((stage,)), seed)


class TeamEnvironment(ParallelEnv):
    """Agents keep their names over episodes: a team of n is the first n of `possible_agents`.

    Where the roster changes, whoever takes a slot anew has a name of its own: `agent_SLOT_LIFE`.
    """

    def __init__(self, task: AnyTask, curriculum: Curriculum, seed: int) -> None:
        self.metadata = {"name": task.name, "render_modes": ["rgb_array"]}
        self.render_mode = "rgb_array"
        self.task = task
        most = task.roster.most_lives(task.horizon)
        self.possible_agents = [self._name(slot, life) for life in range(most) for slot in range(task.slots)]
        self.agent_slots = task.slots  # as training on a PettingZoo environment wants to know
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
        self._time, self._present = 0, np.asarray(_presence(self.task, self._key, team_size))
        self._lives = lives(self._present)
        self._key, reset_key = jax.random.split(self._key)
        self._state, views = _begin(self.task, reset_key, team_size, self._following)
        team = self._team()
        self.agents = list(team)
        infos = {name: {"team_size": team_size, **mask} for name, mask in self._masks(team).items()}
        return _by_agent(team, views), infos

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[
        dict[str, np.ndarray], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]
    ]:
        """Who leaves is told so once, by a truncation; who joins is told of everything and has no reward."""
        if not self.agents:
            return {}, {}, {}, {}, {}
        self._key, step_key = jax.random.split(self._key)
        acting, padded = self._team(), self._padded(actions)
        self._time += 1
        self._state, views, outcome = _advance(self.task, step_key, self._state, padded, self._following)
        outcome = jax.device_get(outcome)
        terminated, truncated = bool(outcome.terminated), bool(outcome.truncated)
        staying = {} if terminated or truncated else self._team()
        self.agents = list(staying)
        told = acting | staying
        measures = {name: float(value) for name, value in outcome.measures.items()}
        return (
            _by_agent(told, views),
            {name: float(outcome.reward) if name in acting else 0.0 for name in told},
            dict.fromkeys(told, terminated),
            {name: not terminated and name not in staying for name in told},
            {name: {**measures, **mask} for name, mask in self._masks(told).items()},
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
        for name, slot in self._team().items():
            padded[slot] = actions[name]
        return padded

    def _masks(self, team: dict[str, int]) -> dict[str, dict[str, np.ndarray]]:
        """What everybody is told of allowed actions; nothing where the task has no masks."""
        if not self.task.action_space.masked:
            return {name: {} for name in team}
        allowed = np.asarray(_allowed(self.task, self._state), np.int8)
        return {name: {"action_mask": allowed[slot]} for name, slot in team.items()}

    def _team(self) -> dict[str, int]:
        """Who is there now, and in which slots."""
        slots = np.flatnonzero(self._present[self._time]).tolist()
        return {self._name(slot, self._lives[self._time, slot]): slot for slot in slots}

    def _name(self, slot: int, life: int) -> str:
        return f"agent_{slot}_{life}" if self.task.roster_changes else f"agent_{slot}"

    @property
    def _following(self) -> Bool[np.ndarray, " agent"] | None:
        """Whom the world is told to have now; nothing where it has always the same."""
        return self._present[self._time] if self.task.roster_changes else None


def lives(present: Bool[np.ndarray, "moment slot"]) -> Int[np.ndarray, "moment slot"]:
    """How many agents had each slot before the one who is there."""
    before = np.concatenate([np.zeros_like(present[:1]), present[:-1]])
    return np.cumsum(present & ~before, axis=0) - 1


def _by_agent(team: dict[str, int], views: Float[Array, "agent observation"]) -> dict[str, np.ndarray]:
    seen = np.asarray(views, np.float32)
    return {name: seen[slot] for name, slot in team.items()}


def _own_space(space: ActionSpace) -> Discrete | Box:
    """Ours as the package has it."""
    if isinstance(space, Numbers):
        return Box(np.array(space.low, np.float32), np.array(space.high, np.float32), dtype=np.float32)
    return Discrete(space.width)


@partial(jax.jit, static_argnames="task")
def _allowed(task: AnyTask, state: State) -> Bool[Array, "agent action"]:
    return task.available_actions(state)


@partial(jax.jit, static_argnames="task")
def _presence(
    task: AnyTask, key: PRNGKeyArray, team_size: int | Int[Array, ""]
) -> Bool[Array, "moment agent"]:
    return presence_in(task, key, team_size)


@partial(jax.jit, static_argnames="task")
def _begin(
    task: AnyTask,
    key: PRNGKeyArray,
    team_size: int | Int[Array, ""],
    present: Bool[Array, " agent"] | None,
) -> tuple[State, Float[Array, "agent observation"]]:
    state = task.begin(key, team_size, present)
    return state, task.observe(state)


@partial(jax.jit, static_argnames="task")
def _advance(
    task: AnyTask,
    key: PRNGKeyArray,
    state: State,
    actions: Num[Array, " agent *number"],
    present: Bool[Array, " agent"] | None,
) -> tuple[State, Float[Array, "agent observation"], Outcome]:
    following, outcome = task.advance(key, state, jnp.asarray(actions), present)
    views = task.observe(following)
    if present is not None:  # who leaves sees once more what its last action led to
        unchanged, _ = task.advance(key, state, jnp.asarray(actions))
        views = jnp.where(task.present(following)[:, None], views, task.observe(unchanged))
    return following, views, outcome
