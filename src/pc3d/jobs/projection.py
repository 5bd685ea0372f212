"""How long a study will take: one update of each kind of run is timed, and the rest is arithmetic."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from pc3d.benchmark.training import Beginning, median_seconds
from pc3d.experiment.settings import Experiment

TIMED_UPDATES = 3


@dataclass(frozen=True)
class Kind:
    """Runs that differ in nothing but their seed take equally long."""

    experiment: Experiment  # of seed 0
    episodes_left: int  # over all seeds
    runs: int
    seconds_per_run: float

    @property
    def seconds_left(self) -> float:
        return self.seconds_per_run * self.episodes_left / self.experiment.episodes


def project(left: Iterable[tuple[Experiment, int]]) -> Iterator[Kind]:
    """Time every kind of run among these, each given with the episodes it still has to play."""
    kinds: dict[Experiment, list[int]] = {}
    for experiment, episodes in left:
        kinds.setdefault(replace(experiment, seed=0), []).append(episodes)
    for experiment, episodes_left in kinds.items():
        yield Kind(experiment, sum(episodes_left), len(episodes_left), seconds_of_run(experiment))


def seconds_of_run(experiment: Experiment) -> float:
    """The whole training, from an update with the largest teams; other stages cost as their mean size."""
    stages = experiment.curriculum.stages
    means = [stage.mean for stage in stages]
    largest = max(means)
    update = median_seconds(Beginning.of(experiment, means.index(largest)).update, TIMED_UPDATES)
    return experiment.updates * sum(stage.fraction * update * stage.mean / largest for stage in stages)


def seconds_together(kinds: Iterable[Kind], workers: int) -> float:
    """With so many at a time: the work shared out, but never less than the longest run."""
    kinds = list(kinds)
    shared = sum(kind.seconds_left for kind in kinds) / workers
    longest = max((min(kind.seconds_per_run, kind.seconds_left) for kind in kinds), default=0.0)
    return max(shared, longest)
