"""The settings of this algorithm in an experiment that has it."""

from pc3d.experiment.ctds_settings import CtdsSettings
from pc3d.experiment.experiment import Experiment


def ctds_of(experiment: Experiment) -> CtdsSettings:
    assert isinstance(experiment.algorithm, CtdsSettings)
    return experiment.algorithm
