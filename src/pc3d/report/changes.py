"""What runs brought in teams that change, process by process, and what varies in it: seeds, or keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from pc3d.evaluation.changing.censored import CensoredTimes
from pc3d.evaluation.changing.read import ChangingFile, ChangingScores, Shocked, read_changing
from pc3d.experiment.named_rosters import NAMED
from pc3d.report.runs import Run, Runs
from pc3d.system.errors import BadInput

Units = Float[np.ndarray, " unit"]
Cases = Int[np.ndarray, "unit case 2"]  # steps, and whether it was seen that they ended
BySize = dict[int, ChangingScores]
Played = tuple[str, ChangingFile]  # what the policy was trained with, and what came of it


@dataclass(frozen=True)
class Change:
    """One method's runs by one roster process, at the team sizes that all methods were played at."""

    method: str
    roster: str
    seeds: dict[int, BySize]
    trained: str = ""
    """With what, where that differs between runs of one method."""

    @property
    def sizes(self) -> list[int]:
        return sorted(next(iter(self.seeds.values())))

    @property
    def scores(self) -> list[ChangingScores]:
        return [one for by_size in self.seeds.values() for one in by_size.values()]

    @property
    def shocks(self) -> list[Shocked]:
        """Empty for processes with many changes."""
        return [one.shock for one in self.scores if one.shock is not None]

    @property
    def over(self) -> str:
        """What varies: seeds, or of a single one the keys of its rollouts."""
        return "seeds" if len(self.seeds) > 1 else "keys"

    def of_seeds(self, seeds: set[int]) -> Change:
        kept = {seed: by_size for seed, by_size in self.seeds.items() if seed in seeds}
        return replace(self, seeds=kept)

    def units(self, what: Callable[[ChangingScores], Float[np.ndarray, " rollout"] | None]) -> Units | None:
        """A number for each seed, or for each key of a single one: the mean over team sizes."""
        found = [[what(one) for one in by_size.values()] for by_size in self.seeds.values()]
        known = [[values for values in sizes if values is not None] for sizes in found]
        if not all(known) or [*map(len, known)] != [*map(len, found)]:
            return None
        if len(known) > 1:
            return np.array([np.mean([values.mean() for values in sizes]) for sizes in known])
        return np.mean(_equally_long(known[0]), axis=0)

    def recoveries(self, what: Callable[[Shocked], CensoredTimes]) -> Cases | None:
        """The recovery times of each seed, or of each key of a single one."""
        if not self.shocks:
            return None
        found = [
            [_as_cases(what(one.shock)) for one in by_size.values() if one.shock]
            for by_size in self.seeds.values()
        ]
        if len(found) > 1:
            return np.stack(_equally_long([np.concatenate(sizes) for sizes in found]))
        return np.stack(_equally_long(found[0]), axis=1)

    def waiting(self, what: Callable[[ChangingScores], CensoredTimes | None]) -> CensoredTimes | None:
        """Of all seeds and sizes together."""
        found = [times for one in self.scores if (times := what(one)) is not None]
        return CensoredTimes.together(found) if found else None


def trained_alike(run: Run) -> str:
    """All runs of a method, where nothing else is said."""
    del run
    return ""


def changes_of(runs: Runs, task: str, trained: Callable[[Run], str] = trained_alike) -> list[Change]:
    """Every method by every process it was played by, where all of a process can be compared."""
    played = _played(runs, task, trained)
    order = [*NAMED, *sorted(played.keys() - NAMED.keys())]
    return [change for roster in order if roster in played for change in _alike(roster, played[roster])]


def left_out(runs: Runs, task: str) -> Iterator[str]:
    """What cannot stand in a table with the others of its process, and why."""
    for roster, played in _played(runs, task, trained_alike).items():
        files = [file for _, file in played]
        usual = _usual_rules(files)
        for file in files:
            if file.rules != usual:
                yield (
                    f"{file.path}: not in the tables of teams that change: played by other rules than most "
                    f"({_unlike(file.rules, usual)}); evaluate it again"
                )
        kept: list[set[int]] = [set(file.sizes) for file in files if file.rules == usual]
        if lost := sorted(set[int]().union(*kept) - kept[0].intersection(*kept)):
            sizes = ", ".join(map(str, lost))
            yield (
                f"{task}, {roster}: team sizes {sizes} are not in the tables of teams that change: "
                "not every run was played at them; evaluate all at the same sizes"
            )


def _unlike(rules: dict[str, Any], usual: dict[str, Any]) -> str:
    """The rules that differ: short ones with what they are."""
    found = []
    for name, value in rules.items():
        if value != usual[name]:
            short = all(isinstance(one, int | str) and len(str(one)) < 20 for one in (value, usual[name]))
            found.append(f"{name} {value} instead of {usual[name]}" if short else f"another {name}")
    return ", ".join(found)


def _played(runs: Runs, task: str, trained: Callable[[Run], str]) -> dict[str, list[Played]]:
    found: dict[str, list[Played]] = defaultdict(list)
    for method in runs.methods(task):
        for run in sorted(runs.finished(task, method), key=trained):
            for file in changes_in(run):
                found[file.roster].append((trained(run), file))
    return found


def changes_in(run: Run) -> Iterator[ChangingFile]:
    """What a run's folder holds of teams that change, if it is of that run."""
    experiment = run.experiment
    for file in read_changing(run.folder.path):
        if file.player != (experiment.task, experiment.method, experiment.seed):
            raise BadInput(f"{file.path} is of another run than {run.name}")
        yield file


def _usual_rules(files: list[ChangingFile]) -> dict[str, Any]:
    """Of most files, or of the first among as many."""
    return max((file.rules for file in files), key=[file.rules for file in files].count)


def _alike(roster: str, played: list[Played]) -> Iterator[Change]:
    usual = _usual_rules([file for _, file in played])
    kept = [(trained, file) for trained, file in played if file.rules == usual]
    sizes = sorted(set.intersection(*(set(file.sizes) for _, file in kept)))
    if sizes:
        for (method, trained), alike in groupby(kept, lambda one: (one[1].player[1], one[0])):
            seeds = {file.player[2]: {size: file.sizes[size] for size in sizes} for _, file in alike}
            yield Change(method, roster, seeds, trained)


def _as_cases(times: CensoredTimes) -> Int[np.ndarray, "case 2"]:
    return np.stack([times.steps, times.seen.astype(int)], axis=-1)


def _equally_long(several: list[np.ndarray]) -> list[np.ndarray]:
    shortest = min(map(len, several))
    return [values[:shortest] for values in several]
