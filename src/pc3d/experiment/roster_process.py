"""How a team changes while it plays: small frozen processes, drawn before an episode begins.

What a process means for a team that begins with a certain size is said here in whole numbers, without JAX;
`tasks/presence.py` draws it.
"""

from __future__ import annotations

import abc
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pc3d.system.bounds import Bounded, Range, within
from pc3d.system.errors import BadInput, refuse_unknown
from pc3d.system.plain import from_plain

Amount = Annotated[float, Range(0, 1000)]  # of agents: a whole number, or below 1 a share of the team
Rate = Annotated[float, Range(0, 1000)]


class Limits(NamedTuple):
    """Between which sizes a team stays, and how many slots it needs for that."""

    smallest: int
    largest: int
    slots: int


class Change(NamedTuple):
    """So many leave, and so many join at the same moment, in slots that were empty before."""

    leave: int
    join: int


def _said(value: Any) -> str:
    """Exactly, and as short as that can be."""
    if isinstance(value, tuple):
        return ",".join(map(_said, value))
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class RosterProcess(Bounded, abc.ABC):
    """Who is there at each moment of an episode, whatever anybody does in it."""

    kind: ClassVar[str]
    section: ClassVar[str] = "roster"

    def __str__(self) -> str:
        """What it is, with the settings that are not as they would be if nothing were said."""
        values = {field: getattr(self, field.name) for field in fields(self)}
        said = [f"{field.name}={_said(value)}" for field, value in values.items() if value != field.default]
        return " ".join([self.kind, *said])

    @abc.abstractmethod
    def limits(self, team: int, fewest: int) -> Limits:
        """Of a team that begins with so many, in a task that needs at least `fewest` of them."""

    @abc.abstractmethod
    def most_lives(self, horizon: int) -> int:
        """How many agents may take one slot in an episode, one after the other."""

    def check(self, team: int, fewest: int, horizon: int) -> None:
        """Refuse a team and a task that it does not fit."""
        del team, fewest, horizon


@dataclass(frozen=True)
class Constant(RosterProcess):
    """Nobody leaves and nobody joins."""

    kind: ClassVar[str] = "constant"

    def limits(self, team: int, fewest: int) -> Limits:
        del fewest
        return Limits(team, team, team)

    def most_lives(self, horizon: int) -> int:
        del horizon
        return 1


@dataclass(frozen=True)
class Planned(RosterProcess, abc.ABC):
    """Changes whose sizes are known beforehand."""

    @abc.abstractmethod
    def wanted(self) -> tuple[tuple[float, float], ...]:
        """How many leave and join at each change, in order: whole numbers, or shares of the team."""

    def changes(self, team: int, fewest: int) -> tuple[Change, ...]:
        """The same in whole numbers."""
        found = []
        for leave, join in self.wanted():
            found.append(_in_whole_numbers(leave, join, team, fewest))
            team += found[-1].join - found[-1].leave
        return tuple(found)

    def sizes(self, team: int, fewest: int) -> tuple[int, ...]:
        """How large the team is at the start and after each change."""
        found = [team]
        for change in self.changes(team, fewest):
            found.append(found[-1] + change.join - change.leave)
        return tuple(found)

    def limits(self, team: int, fewest: int) -> Limits:
        sizes, changes = self.sizes(team, fewest), self.changes(team, fewest)
        # Who joins needs a slot that was empty a moment before: a slot just left is not.
        slots = max(before + change.join for before, change in zip(sizes, changes, strict=False))
        return Limits(min(sizes), max(sizes), max(team, slots))

    def most_lives(self, horizon: int) -> int:
        del horizon
        changes = self.wanted()
        retaking = (
            join > 0 and any(leave > 0 for leave, _ in changes[:at]) for at, (_, join) in enumerate(changes)
        )
        return 1 + sum(retaking)

    def check(self, team: int, fewest: int, horizon: int) -> None:
        del horizon
        sizes, changes = self.sizes(team, fewest), self.changes(team, fewest)
        for before, after, change in zip(sizes, sizes[1:], changes, strict=False):
            if change.leave > before or after < 1:
                raise BadInput(
                    f"this roster would empty a team of {before} agents: {change.leave} of them leave"
                )
            if after < min(fewest, team):
                raise BadInput(
                    f"this roster would leave {after} of {before} agents, and this task needs {fewest}"
                )


@dataclass(frozen=True)
class Shock(Planned):
    """One change, at a moment that nobody knows."""

    kind: ClassVar[str] = "shock"

    leave: Amount = 0.0
    join: Amount = 0.0
    between: Annotated[tuple[float, ...], Range(0, 1)] = (0.4, 0.6)
    """The change comes within these shares of the episode."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_amounts(self.leave, self.join)
        _check_pair("between", self.between)

    def wanted(self) -> tuple[tuple[float, float], ...]:
        return ((self.leave, self.join),)

    def moments(self, horizon: int) -> tuple[int, int]:
        """The first and the last that the change may come at: some step is before it, and some after it."""
        first, last = (min(max(round(share * horizon), 1), horizon - 1) for share in self.between)
        return first, last


@dataclass(frozen=True)
class Event:
    """After so many steps, some leave and some join."""

    step: int
    leave: float = 0.0
    join: float = 0.0

    def __post_init__(self) -> None:
        within("roster.events.step", self.step, 1, 10**6)
        for name in ("leave", "join"):
            within(f"roster.events.{name}", getattr(self, name), 0, 1000)
        _check_amounts(self.leave, self.join)

    def __str__(self) -> str:
        return f"at {self.step} leave {_said(self.leave)} join {_said(self.join)}"


@dataclass(frozen=True)
class Schedule(Planned):
    """Changes at known moments."""

    kind: ClassVar[str] = "schedule"

    events: tuple[Event, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        steps = [event.step for event in self.events]
        if not steps or sorted(set(steps)) != steps:
            raise BadInput(f"roster.events must have rising steps, not {steps}")

    def wanted(self) -> tuple[tuple[float, float], ...]:
        return tuple((event.leave, event.join) for event in self.events)

    def check(self, team: int, fewest: int, horizon: int) -> None:
        super().check(team, fewest, horizon)
        if self.events[-1].step >= horizon:
            raise BadInput(
                f"this roster changes after step {self.events[-1].step}, and episodes have {horizon} steps"
            )


@dataclass(frozen=True)
class Random(RosterProcess, abc.ABC):
    """Changes that are drawn moment by moment, within bounds; whoever is kept by one tries again."""

    smallest: int | None = None
    """So many stay at least; else half of the team, and two of it. A task may need more."""
    largest: int | None = None
    """No more than so many are there at once; else as many as at the start."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("smallest", "largest"):
            bound = getattr(self, name)
            if bound is not None and bound < 1:
                raise BadInput(f"roster.{name} = {bound} would empty the team: at least 1 agent stays")
        if self.smallest is not None and self.largest is not None and self.smallest > self.largest:
            raise BadInput(f"roster.smallest ({self.smallest}) is above roster.largest ({self.largest})")

    def limits(self, team: int, fewest: int) -> Limits:
        half = max(2, -(-team // 2)) if self.smallest is None else self.smallest
        largest = max(team, self.largest or team)
        return Limits(min(team, max(half, fewest)), largest, largest)

    def most_lives(self, horizon: int) -> int:
        return -(-(horizon + 1) // self.shortest_life(horizon))

    @abc.abstractmethod
    def shortest_life(self, horizon: int) -> int:
        """In moments, from one agent's coming to the next one's in the same slot."""


@dataclass(frozen=True)
class Churn(Random):
    """Everybody may leave and every empty slot may be taken, at any moment, with small chances."""

    kind: ClassVar[str] = "churn"

    leave: Rate = 0.005
    """The chance of an agent to leave."""
    join: Rate = 0.005
    """The chance of an empty slot to be taken."""
    minimum_stay: Rate = 0.0
    """Nobody leaves before."""
    clock: Literal["steps", "episodes"] = "steps"
    """What chances and stays are counted in: 2 an episode of 100 steps is a chance of 0.02 a step."""
    per: Literal["agent", "team"] = "agent"
    """Whether the chances are each agent's and slot's own, or those of one event for the whole team."""
    burst: Annotated[tuple[float, ...], Range(0, 1)] = (1.0,)
    """How likely an event of the team takes one, two, ... agents at once."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if abs(sum(self.burst) - 1) > 1e-6:
            raise BadInput(f"roster.burst must sum to 1, but {self.burst} do not")
        if self.per == "agent" and len(self.burst) > 1:
            raise BadInput('roster.burst is for events of the whole team: set roster.per = "team"')
        if self.clock == "steps":
            for name in ("leave", "join"):
                within(f"roster.{name}", getattr(self, name), 0, 1)

    def chances(self, horizon: int) -> tuple[float, float]:
        """Of leaving and of joining, at each step."""
        steps = 1 if self.clock == "steps" else horizon
        return min(self.leave / steps, 1.0), min(self.join / steps, 1.0)

    def steps_to_stay(self, horizon: int) -> int:
        return round(self.minimum_stay * (1 if self.clock == "steps" else horizon))

    def shortest_life(self, horizon: int) -> int:
        return max(1, self.steps_to_stay(horizon)) + 1  # a slot is empty for a moment in between


@dataclass(frozen=True)
class Spans(Random):
    """Every slot is filled for a while and empty for a while, both drawn evenly from a range of steps."""

    kind: ClassVar[str] = "spans"

    present: Annotated[tuple[int, ...], Range(1, 10**6)] = (10, 19)
    away: Annotated[tuple[int, ...], Range(1, 10**6)] = (15, 24)
    stay: Annotated[int, Range(0, 1000)] = 0
    """The first so many slots are never left."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_pair("present", self.present)
        _check_pair("away", self.away)

    def shortest_life(self, horizon: int) -> int:
        del horizon
        return self.present[0] + self.away[0]


CONSTANT = Constant()
KINDS: dict[str, type[RosterProcess]] = {
    process.kind: process for process in (Constant, Shock, Schedule, Churn, Spans)
}


def process_to_plain(process: RosterProcess) -> dict[str, Any]:
    """As JSON and TOML have it: which kind, and its settings."""
    return {"kind": process.kind, **asdict(process)}


def process_from_plain(plain: Any, where: str) -> RosterProcess:
    """A process from plain data, checked; `where` says in an error who asked for it."""
    if not isinstance(plain, dict) or not isinstance(plain.get("kind"), str):
        raise BadInput(f"{where} must be a table with a kind: {', '.join(KINDS)}")
    refuse_unknown(f"kind of roster (in {where})", plain["kind"], KINDS)
    settings = {name: value for name, value in plain.items() if name != "kind"}
    process: RosterProcess = from_plain(KINDS[plain["kind"]], settings, where)
    return process


def _in_whole_numbers(leave: float, join: float, team: int, fewest: int) -> Change:
    """Shares are rounded down, but somebody goes; and as many stay as the task needs."""
    joining = _share(join, team)
    leaving = _share(leave, team)
    if 0 < leave < 1:
        leaving = max(0, min(leaving, team + joining - min(fewest, team)))
    return Change(leaving, joining)


def _share(amount: float, team: int) -> int:
    return max(1, int(amount * team)) if 0 < amount < 1 else int(amount)


def _check_amounts(*amounts: float) -> None:
    for amount in amounts:
        if amount > 1 and amount != int(amount):
            raise BadInput(
                f"a roster changes by whole agents, or by a share below 1 of them, not by {amount:g}"
            )


def _check_pair(name: str, pair: tuple[float, ...]) -> None:
    if len(pair) != 2 or pair[0] > pair[1]:
        raise BadInput(f"roster.{name} must be two numbers, the smaller one first, not {pair}")
