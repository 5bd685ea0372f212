"""What an agent can do at one moment: take one of a few named actions, or say some numbers within bounds.

Everything that acts, learns, plays or is exported asks one of these two kinds. Nothing here needs JAX.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from pc3d.system.bounds import within
from pc3d.system.errors import BadInput
from pc3d.system.plain import amount

MOST_ACTIONS = 4096
NAMES_SHOWN = 8  # of more actions, the first ones and the last are named


@dataclass(frozen=True)
class Choice:
    """One of several actions; an action is its number."""

    names: tuple[str, ...]
    masked: bool = False
    """Whether the task says at every moment who may take which of them."""

    kind: ClassVar[Literal["choice"]] = "choice"
    dtype: ClassVar[Literal["int32"]] = "int32"
    shape: ClassVar[tuple[int, ...]] = ()
    """Of one action, and of the uniform draws that decide it."""

    def __post_init__(self) -> None:
        within("the number of actions", len(self.names), 1, MOST_ACTIONS)

    @property
    def width(self) -> int:
        """How many numbers a policy says: one for every action."""
        return len(self.names)

    @property
    def mask_width(self) -> int:
        """How many numbers tell which actions are allowed; none where all of them always are."""
        return self.width if self.masked else 0

    @property
    def words(self) -> str:
        """For a person."""
        masked = "; masks say which are allowed" if self.masked else ""
        return f"one of {self.width}: {_listed(self.names)}{masked}"


@dataclass(frozen=True)
class Box:
    """Several real numbers at once, each within bounds of its own."""

    names: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    kind: ClassVar[Literal["box"]] = "box"
    dtype: ClassVar[Literal["float32"]] = "float32"
    masked: ClassVar[bool] = False
    mask_width: ClassVar[int] = 0

    def __post_init__(self) -> None:
        within("the number of numbers in an action", len(self.names), 1, MOST_ACTIONS)
        if not len(self.names) == len(self.low) == len(self.high):
            raise BadInput("a box of actions needs a name, a low bound and a high bound for each number")
        for name, low, high in zip(self.names, self.low, self.high, strict=True):
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise BadInput(
                    f"the action's {name} needs two finite bounds, the lower one first, "
                    f"not {low:g} and {high:g}"
                )

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one action, and of the uniform draws that decide it."""
        return (self.width,)

    @property
    def width(self) -> int:
        """How many numbers a policy says: the middle of each number's distribution."""
        return len(self.names)

    @property
    def words(self) -> str:
        """For a person."""
        numbers = [
            f"{name} from {low:g} to {high:g}"
            for name, low, high in zip(self.names, self.low, self.high, strict=True)
        ]
        return f"{amount(self.width, 'real number')}: {_listed(tuple(numbers))}"


ActionSpace = Choice | Box


def _listed(names: tuple[str, ...]) -> str:
    if len(names) <= NAMES_SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[: NAMES_SHOWN - 1])}, … {names[-1]}"
