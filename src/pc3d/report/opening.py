"""On which task and team size the page's replays open: where the two episodes differ as the means do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from jaxtyping import Float

from pc3d.experiment.methods import OURS
from pc3d.report.runs import Runs
from pc3d.report.story import BACKBONE


@dataclass(frozen=True)
class Opening:
    task: str
    team_size: int


@dataclass(frozen=True)
class Pair:
    """The episodes that the viewer shows first at a size, one beside the other."""

    opening: Opening
    of_the_claim: bool
    """Whether the story is about this size."""
    usual: float
    """How far the first is ahead on average, in deviations between episodes of one policy."""
    shown: float
    """How far in these two episodes."""

    @property
    def oddity(self) -> tuple[bool, bool, float]:
        """Worst is that another is ahead than on average, then a size that the story is not about."""
        return self.shown * self.usual <= 0, not self.of_the_claim, abs(self.shown - self.usual)


def most_telling(runs: Runs, replays: Sequence[dict[str, Any]]) -> Opening | None:
    """On the task whose means are furthest apart; nothing where only one method can be watched."""
    pairs = [pair for task in runs.tasks for pair in _pairs(runs, replays, task)]
    telling = [pair for pair in pairs if pair.of_the_claim and pair.usual != 0]
    if not telling:
        return None
    task = max(telling, key=lambda pair: abs(pair.usual)).opening.task
    return min((pair for pair in pairs if pair.opening.task == task), key=lambda pair: pair.oddity).opening


def _pairs(runs: Runs, replays: Sequence[dict[str, Any]], task: str) -> Iterator[Pair]:
    """At every size never trained with, or at all where there is none."""
    seen, *others = (sizes for sizes in runs.splits(task).values() if sizes)
    *_, last = (seen, *others)
    for size in tuple(chain.from_iterable(others)) or seen:
        here = [one for one in replays if (one["task"], one["team_size"]) == (task, size)]
        methods = [method for method in runs.methods(task) if any(one["method"] == method for one in here)]
        chosen = _shown_first([method for method in methods if runs.scored(task, method)])
        if chosen is not None:
            shown = [next(one["return"] for one in here if one["method"] == method) for method in chosen]
            usual = [_rollouts(runs, task, method, size) for method in chosen]
            within = float(np.mean([returns.std() for returns in usual])) or 1.0
            ahead = float(usual[0].mean() - usual[1].mean())
            yield Pair(Opening(task, size), size in last, ahead / within, (shown[0] - shown[1]) / within)


def _shown_first(methods: list[str]) -> tuple[str, str] | None:
    """As the viewer chooses."""
    if len(methods) < 2:
        return None
    first = OURS if OURS in methods else methods[0]
    others = [method for method in methods if method != first]
    return first, BACKBONE if BACKBONE in others else others[0]


def _rollouts(runs: Runs, task: str, method: str, size: int) -> Float[np.ndarray, " rollout"]:
    return np.concatenate([scores.returns[size] for scores in runs.scored(task, method)])
