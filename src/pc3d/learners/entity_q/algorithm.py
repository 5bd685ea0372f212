"""Q-learning whose networks attend to entities, and REFIL, which draws groups of them for every episode."""

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from pc3d.experiment.entity_settings import RefilSettings
from pc3d.experiment.experiment import Experiment
from pc3d.learners.q_learning.algorithm import QLearning
from pc3d.learners.q_learning.chance import NOTHING, Chance
from pc3d.learners.q_learning.learner import QLearner
from pc3d.networks.entity_groups import Groups
from pc3d.play.episode import Episode
from pc3d.system.errors import BadInput
from pc3d.tasks.entities import without_rows
from pc3d.tasks.make import playable
from pc3d.tasks.task import Game, entity_count

GROUP_DRAWS = 0x6209  # folded into the key of an update


class EntityQ(QLearning):
    """The same learner; where values are imagined, groups are a function of the seed and the update."""

    def chance(self, experiment: Experiment, task: Game, episodes: Episode, key: PRNGKeyArray) -> Chance:
        settings = experiment.algorithm
        if not (isinstance(settings, RefilSettings) and settings.imagination):
            return NOTHING
        count, _, slots = episodes.present.shape
        keys = jax.random.split(jax.random.fold_in(key, GROUP_DRAWS), count)
        return Chance(groups=Groups.drawn(keys, slots, entity_count(playable(task)) - slots))

    def check(self, experiment: Experiment, task: Game) -> None:
        super().check(experiment, task)
        if not task.by_entity:
            raise BadInput(without_rows(task.name))
        if experiment.backend == "original":
            raise BadInput(
                f"{experiment.method} learns entity by entity, and the original packages have flat views "
                "alone: leave --backend original away"
            )
        if experiment.critic.global_state:
            raise BadInput(
                f"critic.global_state cannot be on: the mixer of {experiment.method} sees all entities anyway"
            )

    def work(self, experiment: Experiment, task: Game, learner: QLearner, team_sizes: np.ndarray) -> None:
        """Attention is not counted."""
        del experiment, task, learner, team_sizes
