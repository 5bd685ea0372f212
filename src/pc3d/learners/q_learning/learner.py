"""The state of Q-learning: what a checkpoint holds; the replay lies beside it."""

import optax
from jaxtyping import Array, Int

from pc3d.learners.algorithm import Learner
from pc3d.learners.value_scale import ValueScale
from pc3d.networks.build import Networks


class QLearner(Learner):
    """Networks, their slow copy, the optimiser, the scale of values, and how long teams have played."""

    networks: Networks
    slow: Networks
    """For targets; the teacher in it is the averaged one, from which contexts are distilled."""
    adam: optax.ScaleByAdamState  # over all parameters as one vector
    value_scale: ValueScale
    team_steps: Int[Array, ""]
