"""Mixes: which kinds of agents make up a team, and which mixes training, choosing and judging may see.

What a mix means for a team of a certain size is said here in whole numbers, without JAX; `tasks/casting.py`
draws who is of which kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, get_args

from pc3d.experiment.kinds import Capability, Kind, check_label
from pc3d.experiment.rosters import SplitName
from pc3d.system.errors import BadInput

Seen = Literal["none", "own", "visible"]
SEEN: tuple[Seen, ...] = get_args(Seen)
SPLITS: tuple[SplitName, ...] = get_args(SplitName)
MOST_KINDS, MOST_MIXES, MOST_AGENTS = 16, 64, 1000
ROUNDING = 1e-6


@dataclass(frozen=True, repr=False)
class Mix:
    """How many of each kind: whole numbers are counts of agents, fractions are chances that sum to 1.

    Of a team of another size than the counts have, it is their proportions. Kinds stand in the order of their
    names: what is drawn must not depend on the order in which a file has them.
    """

    name: str
    kinds: tuple[Kind, ...]
    amounts: tuple[float, ...]

    def __post_init__(self) -> None:
        check_label(self.name, "a mix")
        if not 1 <= len(self.kinds) <= MOST_KINDS or len(self.kinds) != len(self.amounts):
            raise BadInput(f"the mix {self.name} must have 1 to {MOST_KINDS} kinds, each with its amount")
        if len({kind.name for kind in self.kinds}) < len(self.kinds):
            raise BadInput(f"the mix {self.name} names a kind twice")
        places = sorted(range(len(self.kinds)), key=lambda place: self.kinds[place].name)
        for field in ("kinds", "amounts"):
            object.__setattr__(self, field, tuple(getattr(self, field)[place] for place in places))
        if not all(0 < amount <= MOST_AGENTS for amount in self.amounts):
            raise BadInput(f"the amounts of the mix {self.name} must be above 0 to {MOST_AGENTS}")
        if not self.counted and abs(sum(self.amounts) - 1) > ROUNDING:
            raise BadInput(
                f"the amounts of the mix {self.name} must be whole numbers, or chances that sum to 1"
            )

    def __repr__(self) -> str:
        return self.name  # where settings are compared, a table has no room for more

    @property
    def counted(self) -> bool:
        """Whether a team has certain numbers of each kind, and not each agent its chances."""
        return all(amount == int(amount) for amount in self.amounts)

    @property
    def shares(self) -> tuple[float, ...]:
        return tuple(amount / sum(self.amounts) for amount in self.amounts)

    def counts(self, team_size: int) -> tuple[int, ...]:
        """How many of each kind a team has: whoever is cut off most by rounding down comes first."""
        whole = [Fraction(amount) for amount in self.amounts]
        exact = [amount * team_size / sum(whole) for amount in whole]
        counts = [int(number) for number in exact]
        cut_off = sorted(range(len(exact)), key=lambda place: counts[place] - exact[place])
        for place in cut_off[: team_size - sum(counts)]:
            counts[place] += 1
        return tuple(counts)

    @property
    def composition(self) -> frozenset[tuple[tuple[tuple[str, float], ...], float]]:
        """What makes it this mix, whatever it and its kinds are called."""
        parts = zip(self.kinds, self.shares, strict=True)
        return frozenset((tuple(sorted(kind.abilities)), round(share, 6)) for kind, share in parts)


@dataclass(frozen=True)
class Cast:
    """Whom a world's agents are drawn from: first one of these mixes, then who is of which kind."""

    mixes: tuple[Mix, ...] = ()
    """None at all: every agent is the task's usual one."""
    seen: Seen = "none"

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(dict.fromkeys(kind for mix in self.mixes for kind in mix.kinds))


ALL_USUAL = Cast()


@dataclass(frozen=True)
class Mixes:
    """The mixes of an experiment, split by what they may be used for, as team sizes are; by name."""

    train: tuple[Mix, ...] = ()
    validation: tuple[Mix, ...] = ()
    test: tuple[Mix, ...] = ()
    seen: Seen = "none"
    """What agents see of capabilities: nothing, their own, or also those of the teammates they see."""

    def __post_init__(self) -> None:
        if not self.all:
            if self.seen != "none":
                raise BadInput(
                    "the usual agents have no capabilities to be seen: --capabilities needs a --mix"
                )
            return
        for split in SPLITS:
            object.__setattr__(self, split, tuple(sorted(self.of(split), key=lambda mix: mix.name)))
        if not self.train:
            raise BadInput("mixes need at least one to train with")
        if len(self.all) > MOST_MIXES:
            raise BadInput(f"there are at most {MOST_MIXES} mixes, not {len(self.all)}")
        for first, second in ((one, other) for at, other in enumerate(self.all) for one in self.all[:at]):
            if first.name == second.name:
                raise BadInput(f"two mixes are called {first.name}")
            if same_mix(first, second):
                raise BadInput(f"the mixes {first.name} and {second.name} are the same")
        kinds: dict[str, Kind] = {}
        for kind in (kind for mix in self.all for kind in mix.kinds):
            if kinds.setdefault(kind.name, kind) != kind:
                raise BadInput(f"two kinds of agents are called {kind.name}")

    def __bool__(self) -> bool:
        return bool(self.all)

    @property
    def all(self) -> tuple[Mix, ...]:
        return self.train + self.validation + self.test

    @property
    def cast(self) -> Cast:
        """Whom training draws its teams from."""
        return Cast(self.train, self.seen)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return Cast(self.all).kinds

    def of(self, split: SplitName) -> tuple[Mix, ...]:
        found: tuple[Mix, ...] = getattr(self, split)
        return found

    def split_of(self, mix: Mix) -> SplitName | Literal["other"]:
        """The split a mix belongs to, by whatever name; "other" for one that the experiment does not have."""
        for split in SPLITS:
            if any(same_mix(mix, known) for known in self.of(split)):
                return split
        return "other"

    def sealed(self) -> Mixes:
        """The same for trying out: without the mixes that a method is judged by."""
        return replace(self, test=())

    def check(self, task: str, capabilities: Iterable[Capability]) -> None:
        """Refuse kinds that a task cannot have."""
        capabilities = tuple(capabilities)
        for kind in self.kinds:
            kind.check(task, capabilities)


def same_mix(one: Mix, other: Mix) -> bool:
    return one.composition == other.composition and one.counted == other.counted


NO_MIXES = Mixes()
