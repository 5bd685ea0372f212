"""Ranges of settings, said beside them: `epochs: Annotated[int, Range(1, 1000)]`."""

from dataclasses import dataclass
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

from pc3d.system.errors import BadInput
from pc3d.system.plain import LARGEST_WHOLE_NUMBER, from_plain

MOST_ITEMS = 16  # of a setting that is a list, such as the widths of layers


@dataclass(frozen=True)
class Range:
    """From one number to another, both allowed; of a list, what each item must be in."""

    low: float
    high: float
    above: bool = False
    """Whether `low` itself is already too low."""

    def check(self, name: str, value: float | tuple[float, ...]) -> None:
        if isinstance(value, tuple):
            within(f"the number of {name}", len(value), 0, MOST_ITEMS)
        for number in value if isinstance(value, tuple) else (value,):
            within(name, number, self.low, self.high, above=self.above)


class Bounded:
    """A dataclass that refuses, when it is made, what is outside the ranges beside its fields."""

    section: ClassVar[str] = ""
    """What stands before the names of its settings on the command line and in files, as in ppo.epochs."""

    def __post_init__(self) -> None:
        for field, hint in get_type_hints(type(self), include_extras=True).items():
            for said in getattr(hint, "__metadata__", ()):
                if isinstance(said, Range):
                    name, value = ".".join(filter(None, (self.section, field))), getattr(self, field)
                    refuse_other_kinds(name, value, get_args(hint)[0])
                    said.check(name, value)


def refuse_other_kinds(name: str, value: Any, kind: Any) -> None:
    """Refuse half an epoch, and what no file could hold: types alone stop nobody who writes Python."""
    from_plain(kind, value, name)
    if get_origin(kind) is tuple and not isinstance(value, tuple):
        raise BadInput(f"{name} must be a tuple, such as {tuple(value)}, not a list")


def within(name: str, value: float, low: float, high: float, *, above: bool = False) -> None:
    """Refuse a number outside its range, naming both; NaN is outside every range."""
    if not (low < value <= high if above else low <= value <= high):
        start = "above" if above else "from"
        raise BadInput(f"{name} must be {start} {_shown(low)} to {_shown(high)}, not {_shown(value)}")


def _shown(value: float) -> str:
    if not isinstance(value, int):
        return f"{value:g}"
    return f"{value:,}" if abs(value) <= LARGEST_WHOLE_NUMBER else "a huge number"
