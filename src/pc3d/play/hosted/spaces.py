"""From a PettingZoo environment's spaces to ours, and from our actions to what it expects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool

from pc3d.experiment.action_space import ActionSpace, Box, Choice
from pc3d.play.hosted.world import ContractBroken
from pc3d.system.errors import BadInput

MASK = "action_mask"  # PettingZoo's own name for it, in an observation or in an info
SEEN = "observation"  # what stands beside it in an observation


@dataclass(frozen=True)
class OwnActions:
    """An environment's action space, which all of its agents share."""

    space: Any
    """The package's own object."""
    masked: bool = False

    @staticmethod
    def of(environment: Any, names: list[str], *, masked: bool) -> OwnActions:
        """The one space of all agents, or a sentence."""
        first = OwnActions(environment.action_space(names[0]), masked)
        for name in names:
            own = OwnActions(environment.action_space(name), masked)
            own.check(name)
            if (own.described, own.space.shape) != (first.described, first.space.shape):
                raise ContractBroken(
                    f"{names[0]} and {name} have different action spaces ({first.space} and {own.space}): "
                    "all agents share one policy"
                )
        return first

    def check(self, name: str) -> None:
        """Say what is wrong with the space, and what to do."""
        kind = type(self.space).__name__
        if kind not in ("Discrete", "Box"):
            raise ContractBroken(
                f"{name} has the action space {self.space}: only Discrete and a bounded Box work; let "
                "each combination of choices stand for one action, and join numbers into one Box"
            )
        if kind == "Box" and self.space.dtype.kind != "f":
            raise ContractBroken(
                f"{name} has the action space {self.space}: a Box of actions must be of real numbers; let "
                "each whole number stand for one action of a Discrete space"
            )
        if kind == "Box" and self.masked:
            raise ContractBroken(f"{name} has masks, but only a Discrete action space can have them")
        try:
            _ = self.described
        except BadInput as error:
            raise ContractBroken(
                f"{name} has the action space {self.space}: {error}; give every number bounds within which "
                "good actions lie, for instance with a wrapper"
            ) from None

    @cached_property
    def described(self) -> ActionSpace:
        """As everything outside of this folder knows it; numbers of any shape are in one row."""
        if type(self.space).__name__ == "Discrete":
            names = (f"action {self.space.start + number}" for number in range(int(self.space.n)))
            return Choice(tuple(names), self.masked)
        low, high = (tuple(bounds.ravel().astype(float).tolist()) for bounds in self.bounds)
        return Box(tuple(f"number {number}" for number in range(len(low))), low, high)

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return np.asarray(self.space.low, np.float32), np.asarray(self.space.high, np.float32)

    def told(self, action: np.ndarray | np.generic) -> Any:
        """An action, a number or a row of them, as the environment expects it."""
        if isinstance(self.described, Choice):
            return int(self.space.start) + int(action)
        return np.clip(action.reshape(self.space.shape), *self.bounds).astype(self.space.dtype)


def has_masks(observations: Mapping[str, Any], infos: Any) -> bool:
    """Whether anybody is told which actions are allowed."""
    told = list(infos.values()) if isinstance(infos, Mapping) else []
    return any(isinstance(one, Mapping) and MASK in one for one in (*observations.values(), *told))


def seen_by(observation: Any) -> Any:
    """An observation without the mask that may come with it."""
    if isinstance(observation, Mapping) and MASK in observation and SEEN in observation:
        return observation[SEEN]
    return observation


def mask_of(name: str, observation: Any, info: Any, actions: int) -> Bool[np.ndarray, " action"]:
    """Which actions an agent may take, from either place that PettingZoo has for it."""
    places = [place for place in (observation, info) if isinstance(place, Mapping) and MASK in place]
    if not places:
        raise ContractBroken(f"{name} got no {MASK}, though there was one before: tell it at every step")
    mask = np.asarray(places[0][MASK])
    if mask.shape != (actions,) or mask.dtype.kind not in "biuf":
        raise ContractBroken(
            f"the {MASK} of {name} is not {actions} zeros and ones, one for every action, but has "
            f"shape {mask.shape}"
        )
    return mask.astype(bool)
