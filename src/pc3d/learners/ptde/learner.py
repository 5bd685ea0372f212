"""The state of PTDE: what a checkpoint holds."""

from pc3d.learners.algorithm import Learner
from pc3d.learners.ppo.learner import PpoLearner
from pc3d.learners.students import Student


class PtdeLearner(Learner):
    """A teacher, whose own updates end with its stage, and a student."""

    teacher: PpoLearner
    student: Student
