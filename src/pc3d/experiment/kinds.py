"""Kinds of agents: what each of them is able to do, where that differs from the task's usual agent."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pc3d.system.bounds import within
from pc3d.system.errors import BadInput, refuse_unknown, shortened

NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")


@dataclass(frozen=True)
class Capability:
    """Something that agents of a task may be more or less able to do."""

    name: str
    low: float
    high: float
    usual: float | None
    """Of an agent of whom nothing is said; None where the task draws it anew for every episode."""
    whole: bool = False
    in_view: bool = False
    """Whether the task's own view has a place for it, so that it needs no other."""

    def check(self, where: str, value: float) -> None:
        """Refuse what no agent can have."""
        within(f"{self.name} of {where}", value, self.low, self.high)
        if self.whole and value != int(value):
            raise BadInput(f"{self.name} of {where} must be a whole number, not {value:g}")


@dataclass(frozen=True)
class Kind:
    """Agents that are all able to do the same: as the task's usual ones but for what is said here."""

    name: str
    abilities: tuple[tuple[str, float], ...] = ()
    """By the names of capabilities, and in their order."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "abilities", tuple(sorted(self.abilities)))

    def value(self, capability: Capability) -> float | None:
        """How able it is; None where the task draws that."""
        return dict(self.abilities).get(capability.name, capability.usual)

    def check(self, task: str, capabilities: Iterable[Capability]) -> None:
        """Refuse a kind that this task cannot have."""
        check_label(self.name, "a kind of agents")
        known = {one.name: one for one in capabilities}
        if not known:
            raise BadInput(f"the agents of {shortened(task)} are all alike: it has no capabilities")
        for name, value in self.abilities:
            refuse_unknown(f"capability of {task} (of the kind {self.name})", name, known)
            known[name].check(f"the kind {self.name}", value)


USUAL = Kind("usual")


def check_label(name: str, what: str) -> None:
    """Refuse what could not be a part of a file's name, too."""
    if not NAME.fullmatch(name):
        raise BadInput(
            f"{what} is called by small letters, digits and dashes, such as tall-2, not {shortened(name)!r}"
        )
