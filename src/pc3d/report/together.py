"""Which runs can stand in one table: of those that cannot, the larger group stays, the others are named."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pc3d.experiment.methods import METHODS
from pc3d.experiment.mixes import Mixes
from pc3d.presets.paper import changes
from pc3d.system.errors import BadInput
from pc3d.system.plain import differences, in_short
from pc3d.tasks.registry import papers

if TYPE_CHECKING:
    from pc3d.report.runs import Run

T = TypeVar("T")
NAME_THEM = "name the folders that belong together"


@dataclass(frozen=True)
class LeftOut:
    """A run that is in no table, and why."""

    path: Path
    reason: str

    def __str__(self) -> str:
        return f"{self.path} is left out: {self.reason}"


@dataclass(frozen=True)
class Need:
    """What runs of one task must share, as it is put into a sentence."""

    doing: str
    what: Callable[[Run], Hashable]
    in_words: Callable[[Run], str]

    def between(self, one: Run, other: Run) -> str:
        """How two differ."""
        here, there = self.in_words(one), self.in_words(other)
        told = f" ({here} and {there})" if here != there else ""
        return f"{self.doing} differently{told}"


RETURN = Need("define the return", lambda run: run.return_definition, lambda run: run.return_definition)
SIZES = Need(
    "split the team sizes",
    lambda run: run.experiment.rosters,
    lambda run: run.experiment.rosters.in_words,
)
MIXES = Need(
    "mix kinds of agents", lambda run: run.experiment.mixes, lambda run: _mixes(run.experiment.mixes)
)
Chosen = tuple[list["Run"], list[LeftOut]]


def refuse_the_same_twice(runs: Iterable[Run]) -> None:
    """Of two runs of one experiment nobody can say which is meant."""
    seen: dict[Hashable, Run] = {}
    for run in runs:
        if (same := seen.setdefault(run.experiment, run)) is not run:
            raise BadInput(
                f"two runs are {same.name}: {same.folder.path} and {run.folder.path}; give one of them"
            )


def alike(runs: list[Run], *needs: Need) -> Chosen:
    """Of each task the largest group whose numbers mean the same; where two are as large, none."""
    kept: list[Run] = []
    left: list[LeftOut] = []
    for of_task in _grouped(runs, lambda run: run.experiment.task):
        groups = _grouped(of_task, lambda run: tuple(need.what(run) for need in needs))
        largest = _first(groups, _standing)
        kept += largest or []
        for group in groups:
            if group is not largest:
                other = largest or next(one for one in groups if one is not group)
                left += [LeftOut(run.folder.path, _unlike(run, other[0], needs)) for run in group]
    return kept, left


def without_doubles(runs: list[Run]) -> Chosen:
    """Of runs with one task, method and seed that which more others are like, if there is one."""
    kept: list[Run] = []
    left: list[LeftOut] = []
    for same in _grouped(runs, lambda run: run.name):
        first = _first(same, lambda run: tuple(map(_standing, _companies(run, runs))))
        kept += [] if first is None else [first]
        for run in same:
            if run is not first:
                other = first or next(one for one in same if one is not run)
                left.append(LeftOut(run.folder.path, _double(run, other)))
    return kept, left


def _grouped(runs: list[Run], what: Callable[[Run], Hashable]) -> list[list[Run]]:
    found: dict[Hashable, list[Run]] = defaultdict(list)
    for run in runs:
        found[what(run)].append(run)
    return list(found.values())


def _first(several: list[T], standing: Callable[[T], tuple[object, ...]]) -> T | None:
    """The one that stands above all others; without one, neither is preferred."""
    if len(several) == 1:
        return several[0]
    standings = [standing(one) for one in several]
    highest = max(standings)
    return several[standings.index(highest)] if standings.count(highest) == 1 else None


def _standing(group: list[Run]) -> tuple[int, ...]:
    """How many are finished and scored, how many there are, and how many have the task's own settings."""
    return sum(run.complete for run in group), len(group), sum(map(_is_usual, group))


def _is_usual(run: Run) -> bool:
    experiment = run.experiment
    return experiment.task in papers() and experiment.method in METHODS and not changes(experiment)


def _companies(run: Run, runs: list[Run]) -> tuple[list[Run], list[Run]]:
    """The runs of its task that are as long, and the seeds of its method that were trained alike."""
    of_task = [one for one in runs if one.experiment.task == run.experiment.task]
    as_long = [one for one in of_task if one.experiment.episodes == run.experiment.episodes]
    in_its_way = replace(run.experiment, seed=0)
    return as_long, [one for one in of_task if replace(one.experiment, seed=0) == in_its_way]


def _unlike(run: Run, other: Run, needs: Iterable[Need]) -> str:
    found = [need.between(other, run) for need in needs if need.what(run) != need.what(other)]
    paths = f"{other.folder.path} and {run.folder.path}"
    return f"{paths} cannot stand in one table: they {' and '.join(found)}; {NAME_THEM}"


def _double(run: Run, other: Run) -> str:
    changed = in_short(differences(other.experiment, run.experiment))
    paths = f"{other.folder.path} and {run.folder.path}"
    return f"two runs are {run.name}: {paths} ({changed}); {NAME_THEM}"


def _mixes(mixes: Mixes) -> str:
    names = ", ".join(mix.name for mix in mixes.all)
    return f"{names}, of which agents see {mixes.seen}" if names else "none"
