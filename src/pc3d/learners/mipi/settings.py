"""The settings of this algorithm in an experiment that has it."""

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.mipi_settings import MipiSettings


def mipi_of(experiment: Experiment) -> MipiSettings:
    assert isinstance(experiment.algorithm, MipiSettings)
    return experiment.algorithm
