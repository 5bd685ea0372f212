"""The state of PPO: what a checkpoint holds."""

import equinox as eqx
import optax
from jaxtyping import Array, Bool

from pc3d.learners.algorithm import Learner
from pc3d.learners.ppo.advantages import ValueScale
from pc3d.networks.build import Networks
from pc3d.networks.teacher import Teacher


class PpoLearner(Learner):
    """Networks, the average of the teacher, the optimiser, and the scale of the values."""

    networks: Networks
    averaged_teacher: Teacher | None
    adam: optax.ScaleByAdamState  # over all parameters as one vector
    value_scale: ValueScale


class Health(eqx.Module):
    """What is made of finite numbers, in the order in which a fault would spread."""

    observations: Bool[Array, ""]
    rewards: Bool[Array, ""]
    values: Bool[Array, ""]
    loss: Bool[Array, ""]
    gradient: Bool[Array, ""]
    optimiser: Bool[Array, ""]
    parameters: Bool[Array, ""]
