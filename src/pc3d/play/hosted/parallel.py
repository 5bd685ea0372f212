"""Somebody's PettingZoo `ParallelEnv` as a world on the host. Every rule of the contract is checked here,
at every reset and step, so that a broken one is named where it breaks."""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Num, UInt8

from pc3d.experiment.world import ObservationPart
from pc3d.play.hosted.attendance import Attendance
from pc3d.play.hosted.spaces import OwnActions, has_masks, mask_of, seen_by
from pc3d.play.hosted.told import told_limit, told_parts, told_slots
from pc3d.play.hosted.world import ContractBroken, HostStep, Key, Views, seed_of
from pc3d.system.imports import OWN_ERRORS, described
from pc3d.system.plain import amount

Make = Callable[[int], Any]
MOST_NUMBERS = 10**6  # of an observation
SEVERAL = "an array of real numbers: join its parts into one"
NEEDED = ("reset", "step", "observation_space", "action_space")
FIXED_WIDTH = (
    "every agent must see equally many numbers in every team: keep the k nearest entities, nearest first, "
    "and zeros where there are fewer"
)


class ParallelWorld:
    """Agents have slots in the order of `env.agents`; the team's reward is the mean of their rewards."""

    def __init__(self, make: Make, team_size: int) -> None:
        self.team_size = team_size
        with calling(f"make({team_size})"):
            self.environment = make(team_size)
        with calling(f"what make({team_size}) gave"):  # an attribute may be code, too
            _require_parallel(self.environment)
        self.attendance = Attendance(told_slots(self.environment, team_size))
        self.shape: tuple[int, ...] | None = None
        self.actions: OwnActions | None = None
        self.individual_rewards = False

    def begin(self, key: Key) -> Views:
        return self.reset(seed_of(key))

    def reset(self, seed: int) -> Views:
        """Begin the episode of this seed."""
        with calling(f"reset(seed={seed})"):
            answer = self.environment.reset(seed=seed)
        if not (isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[0], Mapping)):
            raise ContractBroken("reset must return two dictionaries, observations and infos")
        names = list(self.environment.agents)
        if len(names) != self.team_size or len(set(names)) != self.team_size:
            raise ContractBroken(
                f"make({self.team_size}) must give {amount(self.team_size, 'agent')}, "
                f"but env.agents has {len(names)} after a reset"
            )
        self.attendance.begin(names)
        if self.actions is None:
            self.actions = self._actions_of(names, masked=has_masks(*answer))
        return self._views(*answer)

    def step(self, key: Key, actions: Num[np.ndarray, " agent *number"]) -> HostStep:
        del key
        assert self.actions is not None, "reset comes first"
        team = self.attendance.team
        choices = {name: self.actions.told(actions[slot]) for name, slot in team.items()}
        with calling("step"):
            answer = self.environment.step(choices)
        five = isinstance(answer, tuple) and len(answer) == 5
        if not five or not all(isinstance(part, Mapping) for part in answer[:4]):
            raise ContractBroken(
                "step must return five dictionaries: observations, rewards, terminations, truncations, infos"
            )
        observations, rewards, terminations, truncations, infos = answer
        reward = self._reward(rewards)
        terminated, truncated = self._ends(terminations, truncations)
        views = self._views(observations, infos, over=terminated or truncated)
        return HostStep(views, self.attendance.present, reward, terminated, truncated, ())

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
    def slots(self) -> int:
        return self.attendance.slots

    @property
    def names(self) -> list[str]:
        """Of those who are there."""
        return list(self.attendance.team)

    @property
    def time_limit(self) -> int | None:
        return told_limit(self.environment)

    @property
    def observation_parts(self) -> tuple[ObservationPart, ...]:
        return told_parts(self.environment, math.prod(self.shape or ()))

    def _views(self, observations: Mapping[str, Any], infos: Any, *, over: bool = False) -> Views:
        seen = np.stack([self._view(name, observations) for name in self.names])
        if self.actions is not None and self.actions.masked:
            masks = [self._mask(name, observations[name], infos, over=over) for name in self.names]
            seen = np.concatenate([seen, np.stack(masks)], axis=1, dtype=np.float32)
        views = np.zeros((self.slots, seen.shape[1]), np.float32)
        views[list(self.attendance.team.values())] = seen
        return views

    def _mask(self, name: str, observation: Any, infos: Any, *, over: bool) -> Bool[np.ndarray, " action"]:
        assert self.actions is not None
        info = infos.get(name) if isinstance(infos, Mapping) else None
        mask = mask_of(name, observation, info, self.actions.described.width)
        if not (mask.any() or over):  # when the game is over there is nothing left to do
            raise ContractBroken(
                f"the mask of {name} allows no action: leave it one that does nothing, as everybody acts at "
                "every step"
            )
        return mask

    def _view(self, name: str, observations: Mapping[str, Any]) -> Float[np.ndarray, " observation"]:
        if name not in observations:
            raise ContractBroken(f"{name} got no observation")
        view = _numbers(f"the observation of {name}", seen_by(observations[name]))
        if view.size > MOST_NUMBERS:
            raise ContractBroken(
                f"the observation of {name} has {view.size:,} numbers, and {MOST_NUMBERS:,} are the most"
            )
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
        over = {name: ended[name] or cut[name] for name in self.names}
        following = list(self.environment.agents)
        if all(over.values()) and set(following) <= set(over):
            return all(ended.values()), not all(ended.values())
        newcomers = self.attendance.change(following, over)
        if newcomers and self.actions is not None:
            theirs = self._actions_of(newcomers, masked=self.actions.masked)
            if theirs.described != self.actions.described:
                raise ContractBroken(
                    f"{newcomers[0]}, who joined, has another action space than the team: "
                    "all agents share one policy, so all must have the same"
                )
        return False, False

    def _actions_of(self, names: list[str], *, masked: bool) -> OwnActions:
        with calling("action_space()"):
            return OwnActions.of(self.environment, names, masked=masked)

    def _flags(self, kind: str, told: Mapping[str, Any]) -> dict[str, bool]:
        return {name: bool(_single(f"the {kind} of {name}", told.get(name, False))) for name in self.names}


@contextmanager
def calling(what: str) -> Iterator[None]:
    """Whatever the environment's own code raises becomes one sentence."""
    try:
        yield
    except ContractBroken:
        raise
    except OWN_ERRORS as error:
        raise ContractBroken(f"{what} raised {described(error)}") from error


def _numbers(what: str, given: Any, wanted: str = SEVERAL) -> Float[np.ndarray, "..."]:
    """An array of real numbers, whatever it was given as."""
    try:
        array = np.asarray(given)
    except ValueError:  # rows of unequal length
        array = np.asarray(given, object)
    if array.dtype.kind not in "fiub":
        kind = "words" if array.dtype.kind in "US" else f"{array.dtype} numbers"
        described = f"a {type(given).__name__}" if array.dtype.kind == "O" else f"an array of {kind}"
        raise ContractBroken(f"{what} is {described}, not {wanted}")
    with np.errstate(over="ignore"):  # what is too large becomes infinite, which is looked for
        return array.astype(np.float32)


def _single(what: str, given: Any) -> float:
    """One finite number; arrays of one number are common and as good."""
    numbers = _numbers(what, given, "one number")
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
