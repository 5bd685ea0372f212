"""The algorithms by the class of their settings. A new one is a folder here and a line."""

from pc3d.experiment.actor_critic_settings import MaddpgSettings, MasacSettings, Matd3Settings
from pc3d.experiment.algorithm_settings import AlgorithmSettings
from pc3d.experiment.copa_settings import CopaSettings
from pc3d.experiment.ctds_settings import CtdsSettings
from pc3d.experiment.entity_settings import EntityQSettings, RefilSettings
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.graph_settings import GraphSettings
from pc3d.experiment.happo_settings import HappoSettings
from pc3d.experiment.mipi_settings import MipiSettings
from pc3d.experiment.ppo_settings import PpoSettings
from pc3d.experiment.ptde_settings import PtdeSettings
from pc3d.experiment.q_learning_settings import QLearningSettings
from pc3d.experiment.sog_settings import SogSettings
from pc3d.learners.actor_critic.algorithm import ActorCritic
from pc3d.learners.algorithm import Algorithm
from pc3d.learners.copa.algorithm import Copa
from pc3d.learners.ctds.algorithm import Ctds
from pc3d.learners.entity_q.algorithm import EntityQ
from pc3d.learners.happo.turns import descend_in_turns
from pc3d.learners.mipi.algorithm import Mipi
from pc3d.learners.ppo.algorithm import Ppo
from pc3d.learners.ptde.algorithm import Ptde
from pc3d.learners.q_learning.algorithm import QLearning
from pc3d.learners.sog.algorithm import Sog

ALGORITHMS: dict[type[AlgorithmSettings], Algorithm] = {
    PpoSettings: Ppo(),
    GraphSettings: Ppo(),
    HappoSettings: Ppo(descend_in_turns),
    PtdeSettings: Ptde(),
    QLearningSettings: QLearning(),
    CtdsSettings: Ctds(),
    MipiSettings: Mipi(),
    **dict.fromkeys((EntityQSettings, RefilSettings), EntityQ()),
    CopaSettings: Copa(),
    SogSettings: Sog(),
    **dict.fromkeys((MaddpgSettings, Matd3Settings, MasacSettings), ActorCritic()),
}


def algorithm_of(experiment: Experiment) -> Algorithm:
    """What an experiment learns by."""
    return ALGORITHMS[type(experiment.algorithm)]
