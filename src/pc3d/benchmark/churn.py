"""What training in changing teams costs: updates with constant rosters and under churn, in turns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import jax
import numpy as np

from pc3d.benchmark.training import Beginning, seconds_of
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.named_rosters import NAMED
from pc3d.experiment.roster_process import CONSTANT
from pc3d.play.rota import rota_of

ROSTER = "churn"


@dataclass(frozen=True)
class ChurnCost:
    """A usual update of the last stage, with as many episodes in either case."""

    task: str
    method: str
    constant_seconds: float
    churn_seconds: float
    agents: float  # in the team at the start, on average
    present: float  # under churn, over all moments

    @property
    def ratio(self) -> float:
        """Of the seconds per episode."""
        return self.churn_seconds / self.constant_seconds


def measure_churn(experiment: Experiment, repeats: int) -> ChurnCost:
    last = len(experiment.curriculum.stages) - 1
    constant, churn = (
        Beginning.of(replace(experiment, roster=process), last) for process in (CONSTANT, NAMED[ROSTER])
    )
    constant_seconds, churn_seconds = in_turns((constant.update, churn.update), repeats)
    agents, present = _agents(churn)
    return ChurnCost(experiment.task, experiment.method, constant_seconds, churn_seconds, agents, present)


def in_turns(works: Sequence[Callable[[], Any]], repeats: int) -> list[float]:
    """The median seconds of each, after one that compiles. In turns: a shared core is not always as fast."""
    for work in works:
        seconds_of(work)
    rounds = [[seconds_of(work) for work in works] for _ in range(repeats)]
    return [median(times) for times in zip(*rounds, strict=True)]


def _agents(run: Beginning) -> tuple[float, float]:
    game = run.arena.game
    rota = jax.jit(lambda batch: rota_of(game, batch.keys, batch.team_sizes))(run.batch)
    assert rota is not None, "teams change here"
    return float(np.mean(run.team_sizes)), float(np.asarray(rota.present).sum(axis=2).mean())
