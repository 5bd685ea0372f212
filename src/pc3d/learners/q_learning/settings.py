"""The settings of this algorithm in an experiment that has it."""

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.q_learning_settings import QLearningSettings


def q_of(experiment: Experiment) -> QLearningSettings:
    assert isinstance(experiment.algorithm, QLearningSettings)
    return experiment.algorithm
