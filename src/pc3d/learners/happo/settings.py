"""The settings of this algorithm in an experiment that has it."""

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.happo_settings import HappoSettings


def happo_of(experiment: Experiment) -> HappoSettings:
    assert isinstance(experiment.algorithm, HappoSettings)
    return experiment.algorithm
