"""The settings of this algorithm in an experiment that has it."""

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.ppo_settings import PpoSettings


def ppo_of(experiment: Experiment) -> PpoSettings:
    assert isinstance(experiment.algorithm, PpoSettings)
    return experiment.algorithm
