"""The state of PPO: what a checkpoint holds."""

import optax

from pc3d.learners.algorithm import Learner
from pc3d.learners.value_scale import ValueScale
from pc3d.networks.build import Networks
from pc3d.networks.teacher import Teacher


class PpoLearner(Learner):
    """Networks, the average of the teacher, the optimiser, and the scale of the values."""

    networks: Networks
    averaged_teacher: Teacher | None
    adam: optax.ScaleByAdamState  # over all parameters as one vector
    value_scale: ValueScale
