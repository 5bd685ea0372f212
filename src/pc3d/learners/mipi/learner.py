"""The state of MIPI: what a checkpoint holds; the replay lies beside it."""

from jaxtyping import Array, Float

from pc3d.learners.algorithm import Learner
from pc3d.learners.q_learning.learner import QLearner
from pc3d.learners.students import Student
from pc3d.networks.actor import Actor


class MipiLearner(Learner):
    """Utilities and their mixer, the reference that policies are held against, and the next one."""

    values: QLearner
    reference: Actor
    next_reference: Student
    cost: Float[Array, ""]
    """α, as it was set: policies are made of this state alone."""
