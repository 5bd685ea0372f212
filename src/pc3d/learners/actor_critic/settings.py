"""The settings of these algorithms in an experiment that has one of them."""

from pc3d.experiment.actor_critic_settings import ActorCriticSettings
from pc3d.experiment.experiment import Experiment


def actor_critic_of(experiment: Experiment) -> ActorCriticSettings:
    assert isinstance(experiment.algorithm, ActorCriticSettings)
    return experiment.algorithm
