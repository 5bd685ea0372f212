"""The settings of this algorithm in an experiment that has it."""

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.ptde_settings import PtdeSettings


def ptde_of(experiment: Experiment) -> PtdeSettings:
    assert isinstance(experiment.algorithm, PtdeSettings)
    return experiment.algorithm
