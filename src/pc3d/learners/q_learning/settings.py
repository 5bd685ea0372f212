"""The settings of this algorithm in an experiment that has it."""

from pc3d.experiment.settings import Experiment, QLearningSettings


def q_of(experiment: Experiment) -> QLearningSettings:
    assert isinstance(experiment.algorithm, QLearningSettings)
    return experiment.algorithm
