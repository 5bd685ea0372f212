"""How long a run takes on this machine: one update of it is timed, and the rest is arithmetic."""

from pc3d.benchmark.training import Beginning, median_seconds
from pc3d.experiment.experiment import Experiment

TIMED_UPDATES = 3


def measured_seconds(experiment: Experiment) -> float:
    """The whole training, from an update with the largest teams; other stages cost as their mean size."""
    stages = experiment.curriculum.stages
    means = [stage.mean for stage in stages]
    largest = max(means)
    update = median_seconds(Beginning.of(experiment, means.index(largest)).update, TIMED_UPDATES)
    return experiment.updates * sum(stage.fraction * update * stage.mean / largest for stage in stages)
