"""The state of CTDS: what a checkpoint holds; the replay lies beside it."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from pc3d.learners.algorithm import Learner
from pc3d.learners.q_learning.learner import QLearner
from pc3d.learners.students import Student
from pc3d.play.episode import Episode


class NewestRound(eqx.Module):
    """How the newest episodes went, which an update from a replay would not be told."""

    total_reward: Float[Array, " episode"]
    team_size: Int[Array, " episode"]  # 0 where there was no episode

    @classmethod
    def none(cls, episodes: int) -> "NewestRound":
        return cls(jnp.zeros(episodes), jnp.zeros(episodes, jnp.int32))

    def of(self, episodes: Episode) -> "NewestRound":
        """With those that were just played: as many as there is room for, or fewer."""
        count = len(episodes.team_size)
        blank = NewestRound.none(len(self.team_size))
        rewards, sizes = jnp.asarray(episodes.total_reward), jnp.asarray(episodes.team_size, jnp.int32)
        return NewestRound(blank.total_reward.at[:count].set(rewards), blank.team_size.at[:count].set(sizes))


class CtdsLearner(Learner):
    """A teacher that learns as QMIX does, its student, and how the newest episodes went."""

    teacher: QLearner
    student: Student
    newest: NewestRound
