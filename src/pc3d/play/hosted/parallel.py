"""Somebody's PettingZoo `ParallelEnv` as a world on the host. Every rule of the contract is checked here,
at every reset and step, so that a broken one is named where it breaks."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from jaxtyping import Float, Int, UInt8

from pc3d.play.hosted.world import HostStep, Key, Views, seed_of
from pc3d.system.imports import OWN_ERRORS, described

Make = Callable[[int], Any]
LIMIT_NAMES = ("horizon", "max_cycles")
NEEDED = ("reset", "step", "observation_space", "action_space")
FIXED_WIDTH = (
    "every agent must see equally many numbers in every team: keep the k nearest entities, nearest first, "
    "and zeros where there are fewer"
)


class ContractBroken(Exception):
    """The environment did something that training cannot use; the message says what and how to mend it."""


class ParallelWorld:
    """Agents are slots in the order of `env.agents`; the team's reward is the mean of its agents' rewards."""

    def __init__(self, make: Make, team_size: int) -> None:
        self.team_size = team_size
        with calling(f"make({team_size})"):
            self.environment = make(team_size)
        _require_parallel(self.environment)
        self.names: list[str] = []
        self.shape: tuple[int, ...] | None = None
        self.actions: Any = None
        self.individual_rewards = False

    def begin(self, key: Key) -> Views:
        return self.reset(seed_of(key))

    def reset(self, seed: int) -> Views:
        """Begin the episode of this seed."""
        with calling(f"reset(seed={seed})"):
            answer = self.environment.reset(seed=seed)
        if not (isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[0], Mapping)):
            raise ContractBroken("reset must return two dictionaries, observations and infos")
        self.names = list(self.environment.agents)
        if len(self.names) != self.team_size or len(set(self.names)) != self.team_size:
            raise ContractBroken(
                f"make({self.team_size}) must give {self.team_size} agents, "
                f"but env.agents has {len(self.names)} after a reset"
            )
        if self.actions is None:
            self.actions = self._action_space()
        return self._views(answer[0])

    def step(self, key: Key, actions: Int[np.ndarray, " agent"]) -> HostStep:
        del key
        choices = {
            name: int(self.actions.start) + int(action)
            for name, action in zip(self.names, actions, strict=True)
        }
        with calling("step"):
            answer = self.environment.step(choices)
        five = isinstance(answer, tuple) and len(answer) == 5
        if not five or not all(isinstance(part, Mapping) for part in answer[:4]):
            raise ContractBroken(
                "step must return five dictionaries: observations, rewards, terminations, truncations, infos"
            )
        observations, rewards, terminations, truncations, _ = answer
        terminated, truncated = self._ends(terminations, truncations)
        return HostStep(self._views(observations), self._reward(rewards), terminated, truncated, ())

    def picture(self) -> UInt8[np.ndarray, "row column 3"]:
        with calling("render()"):
            picture = np.asarray(self.environment.render())
        if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
            raise ContractBroken(
                "render() must return rows × columns × 3 bytes: "
                'make the environment with render_mode="rgb_array"'
            )
        return picture

    @property
    def time_limit(self) -> int | None:
        """The environment's own limit, where an attribute tells it."""
        for owner in (self.environment, getattr(self.environment, "unwrapped", None)):
            for name in LIMIT_NAMES:
                limit = getattr(owner, name, None)
                if isinstance(limit, int) and limit > 0:
                    return limit
        return None

    def _action_space(self) -> Any:
        with calling("action_space()"):
            spaces = {name: self.environment.action_space(name) for name in self.names}
        first = spaces[self.names[0]]
        for name, space in spaces.items():
            if type(space).__name__ != "Discrete":
                raise ContractBroken(
                    f"{name} has the action space {space}: only Discrete is possible; let each of a few "
                    "numbers stand for one action"
                )
            if (space.n, space.start) != (first.n, first.start):
                raise ContractBroken(
                    f"{self.names[0]} and {name} have different action spaces ({first} and {space}): "
                    "all agents share one policy"
                )
        return first

    def _views(self, observations: Mapping[str, Any]) -> Views:
        return np.stack([self._view(name, observations) for name in self.names])

    def _view(self, name: str, observations: Mapping[str, Any]) -> Float[np.ndarray, " observation"]:
        if name not in observations:
            raise ContractBroken(f"{name} got no observation")
        view = _numbers(f"the observation of {name}", observations[name])
        if self.shape is None:
            self.shape = view.shape
        if view.shape != self.shape:
            raise ContractBroken(
                f"the observation of {name} has shape {view.shape}, another had {self.shape}: {FIXED_WIDTH}"
            )
        if not np.isfinite(view).all():
            raise ContractBroken(f"the observation of {name} holds a number that is not finite in 32 bits")
        return view.ravel()

    def _reward(self, rewards: Mapping[str, Any]) -> float:
        lacking = [name for name in self.names if name not in rewards]
        if lacking:
            raise ContractBroken(f"{lacking[0]} got no reward")
        values = [_single(f"the reward of {name}", rewards[name]) for name in self.names]
        self.individual_rewards |= min(values) != max(values)
        return sum(values) / len(values)

    def _ends(self, terminations: Mapping[str, Any], truncations: Mapping[str, Any]) -> tuple[bool, bool]:
        ended, cut = self._flags("termination", terminations), self._flags("truncation", truncations)
        over = [one or other for one, other in zip(ended, cut, strict=True)]
        left = [name for name in self.names if name not in self.environment.agents]
        gone = left[0] if left else self.names[over.index(True)] if any(over) else None
        if gone is not None and not all(over):
            raise ContractBroken(
                f"{gone} left the team while others played on: all agents must end at the same step; "
                "let those who are done stay, and do nothing"
            )
        return all(ended), all(over) and not all(ended)

    def _flags(self, kind: str, told: Mapping[str, Any]) -> list[bool]:
        return [bool(_single(f"the {kind} of {name}", told.get(name, False))) for name in self.names]


@contextmanager
def calling(what: str) -> Iterator[None]:
    """Whatever the environment's own code raises becomes one sentence."""
    try:
        yield
    except ContractBroken:
        raise
    except OWN_ERRORS as error:
        raise ContractBroken(f"{what} raised {described(error)}") from error


def _numbers(what: str, given: Any) -> Float[np.ndarray, "..."]:
    """An array of real numbers, whatever it was given as."""
    try:
        array = np.asarray(given)
    except ValueError:  # rows of unequal length
        array = np.asarray(given, object)
    if array.dtype.kind not in "fiub":
        kind = "words" if array.dtype.kind in "US" else f"{array.dtype} numbers"
        described = f"a {type(given).__name__}" if array.dtype.kind == "O" else f"an array of {kind}"
        raise ContractBroken(f"{what} is {described}, not an array of real numbers: join its parts into one")
    with np.errstate(over="ignore"):  # what is too large becomes infinite, which is looked for
        return array.astype(np.float32)


def _single(what: str, given: Any) -> float:
    """One finite number; arrays of one number are common and as good."""
    numbers = _numbers(what, given)
    if numbers.size != 1:
        raise ContractBroken(f"{what} is an array of shape {numbers.shape}, not one number")
    if not np.isfinite(numbers).all():
        raise ContractBroken(f"{what} is not a finite number in 32 bits: {given}")
    return float(np.asarray(given).item())


def _require_parallel(environment: Any) -> None:
    if hasattr(environment, "agent_iter"):
        raise ContractBroken(
            "make returned a turn-based (AEC) environment: return the parallel one, such as parallel_env(...)"
        )
    lacking = [name for name in NEEDED if not callable(getattr(environment, name, None))]
    if lacking:
        raise ContractBroken(
            f"make must return a PettingZoo ParallelEnv, but {type(environment).__name__} has no {lacking[0]}"
        )
