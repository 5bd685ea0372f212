"""One world on the host, as a worker sees it: NumPy arrays as wide as its slots, and nothing of JAX."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Num, UInt, UInt8

Key = UInt[np.ndarray, "2"]  # the raw numbers of a random key
Views = Float[np.ndarray, "agent observation"]
"""What everybody sees; where the task has masks, with a number more for every action: 1 if it is allowed."""


class ContractBroken(Exception):
    """The environment did something that training cannot use; the message says what and how to mend it."""


class HostStep(NamedTuple):
    """What one step brought to the whole team."""

    views: Views
    present: Bool[np.ndarray, " agent"]
    """Who is there after it."""
    reward: float
    terminated: bool
    truncated: bool
    measures: tuple[float, ...]


@runtime_checkable
class HostWorld(Protocol):
    """A world for one team size that begins again and again."""

    @property
    def slots(self) -> int:
        """How many agents have room in it; the first ones are filled at the start."""

    def begin(self, key: Key) -> Views: ...
    def step(self, key: Key, actions: Num[np.ndarray, " agent *number"]) -> HostStep: ...
    def picture(self) -> UInt8[np.ndarray, "row column 3"]: ...


MakeHostWorld = Callable[[int], HostWorld]  # from a team size


def seed_of(key: Key) -> int:
    """The seed an environment is reset with: 31 of the key's bits, as some generators take no more."""
    return int(key[1]) & 0x7FFF_FFFF
