"""Whether anybody has learned anything: the best method's return beside that of random play."""

import math
from dataclasses import dataclass

import numpy as np

from pc3d.report.names import method_title, task_title
from pc3d.report.prose import decimal, number_of_seeds
from pc3d.report.runs import Runs
from pc3d.report.scores import Scores
from pc3d.report.statistics import Estimate, mean_of

RANDOM = "random"
SCARCELY = 0.05  # of the way from random play to the best reference player
ENDS_OF_EPISODES = 1.96  # standard errors to either side: there are many episodes


@dataclass(frozen=True)
class BesideRandom:
    """One method at some sizes of a task, random play there, and the best reference where it is better."""

    method: str
    mean: float
    random: float
    best_reference: float | None
    ahead: Estimate
    """Over seeds; of a single seed the interval is over its episodes."""

    @property
    def better(self) -> bool:
        return self.ahead.value > 0

    @property
    def clearly(self) -> bool:
        """By a twentieth of the way to the best reference; where none is better, by more than chance."""
        if self.best_reference is not None:
            return self.ahead.value >= SCARCELY * (self.best_reference - self.random)
        return self.better and self.ahead.interval is not None and self.ahead.interval[0] > 0

    @property
    def nobody_learned(self) -> bool:
        """That a few seeds lie far apart is no reason to say so: their interval is told instead."""
        return not self.better or (not self.clearly and (self.best_reference is not None or self._one_seed))

    @property
    def _one_seed(self) -> bool:
        return self.ahead.seeds == 1

    def warning(self, place: str) -> str:
        """Said before anybody is praised for being best."""
        much = "clearly better" if self.better else "better"
        known = [
            f"random play has a mean return of {decimal(self.random)}",
            f"the best method {decimal(self.mean)}",
        ]
        if self.best_reference is not None:
            known.append(f"the best reference player {decimal(self.best_reference)}")
        told = f"{', '.join(known[:-1])} and {known[-1]}"
        return f"Nobody plays {much} than random yet: {place} {told}."

    def lead(self) -> str:
        """How far ahead of random play it is, where no better reference sets a scale."""
        low, high = (decimal(end) for end in self.ahead.interval or (math.nan, math.nan))
        over = "one seed, over its episodes" if self._one_seed else number_of_seeds(self.ahead.seeds)
        doubt = "" if self.clearly else "; it may be chance"
        return (
            f"{method_title(self.method)} has {decimal(self.ahead.value)} more than random play, which has "
            f"{decimal(self.random)} (95 % interval {low} to {high}, {over}{doubt})."
        )


def beside_random(runs: Runs, task: str, method: str, sizes: tuple[int, ...]) -> BesideRandom | None:
    """Nothing where no random player was scored at these sizes."""
    known = {
        name: float(player.means(sizes).mean()) * task_title(task).scale
        for name, player in runs.references.get(task, {}).items()
        if not player.lacking(sizes)
    }
    if RANDOM not in known:
        return None
    by_seed = runs.matrix(task, method, sizes).mean(axis=1) * task_title(task).scale
    best = max(known.values())
    ahead = mean_of(by_seed - known[RANDOM])
    if ahead.interval is None:
        (scores,), player = runs.scored(task, method), runs.references[task][RANDOM]
        reach = ENDS_OF_EPISODES * task_title(task).scale * _error((scores, player), sizes)
        ahead = Estimate(ahead.value, 1, (ahead.value - reach, ahead.value + reach))
    return BesideRandom(
        method=method,
        mean=float(by_seed.mean()),
        random=known[RANDOM],
        best_reference=best if best > known[RANDOM] else None,
        ahead=ahead,
    )


def _error(players: tuple[Scores, Scores], sizes: tuple[int, ...]) -> float:
    """The standard error of the difference of two players' means over sizes, from their episodes alone."""
    episodes = [player.returns[size] for player in players for size in sizes]
    return math.sqrt(sum(float(np.var(returns)) / len(returns) for returns in episodes)) / len(sizes)
