"""How long a study will take: from figures that come with pc3d, at once; or from updates that are timed."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.methods import ancestors
from pc3d.presets.paper import paper
from pc3d.system.toml_file import read_toml

FIGURES = Path(__file__).with_name("seconds.toml")
GATES = 3  # matrices of a recurrent layer
Seconds = Callable[[Experiment], float]  # of a whole run


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


def project(left: Iterable[tuple[Experiment, int]], seconds: Seconds) -> Iterator[Kind]:
    """Every kind of run among these, each given with the episodes it still has to play."""
    kinds: dict[Experiment, list[int]] = {}
    for experiment, episodes in left:
        kinds.setdefault(replace(experiment, seed=0), []).append(episodes)
    for experiment, episodes_left in kinds.items():
        yield Kind(experiment, sum(episodes_left), len(episodes_left), seconds(experiment))


def expected_seconds(experiment: Experiment) -> float:
    """What the paper's run of the same method took elsewhere, by how much more or less is computed."""
    figures = _figures()[experiment.task]
    lineage = (experiment.method, *ancestors(experiment.method), "mappo")
    known = next(figures[name] for name in lineage if name in figures)
    usual = paper(experiment.task, experiment.method)
    return known * _work(experiment) / _work(usual)


def seconds_together(kinds: Iterable[Kind], workers: int) -> float:
    """With so many at a time: the work shared out, but never less than the longest run."""
    kinds = list(kinds)
    shared = sum(kind.seconds_left for kind in kinds) / workers
    longest = max((min(kind.seconds_per_run, kind.seconds_left) for kind in kinds), default=0.0)
    return max(shared, longest)


@cache
def _figures() -> dict[str, Any]:
    return read_toml(FIGURES, "file of seconds")


def _work(experiment: Experiment) -> float:
    """In no unit: agents of all episodes, times passes over them, times the hidden layers' weights."""
    agents = sum(stage.fraction * stage.mean for stage in experiment.curriculum.stages)
    actor, critic = experiment.actor, experiment.critic
    layers = (*actor.widths, actor.rnn_dim)
    weights = sum(one * other for one, other in pairwise(layers)) + GATES * actor.rnn_dim**2
    for widths in ((*critic.set_encoder_widths, critic.set_embed_dim), critic.widths):
        weights += sum(one * other for one, other in pairwise(widths))
    return experiment.episodes * agents * getattr(experiment.algorithm, "passes_of_teams", 1) * weights
