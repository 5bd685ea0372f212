"""COPA: A-QMIX whose agents are told something by a coach, which learns with them."""

import jax
from jaxtyping import PRNGKeyArray

from pc3d.experiment.experiment import Experiment
from pc3d.learners.copa.team import ExploringCoachedTeam
from pc3d.learners.entity_q.algorithm import EntityQ
from pc3d.learners.exploring_team import epsilon_of
from pc3d.learners.q_learning.chance import NOTHING, Chance
from pc3d.learners.q_learning.learner import QLearner
from pc3d.learners.q_learning.settings import q_of
from pc3d.networks.coached_actor import CoachedActor
from pc3d.play.coached_team import CoachedTeam
from pc3d.play.episode import Episode
from pc3d.play.team import Team
from pc3d.tasks.task import Game

NOISE_DRAWS = 0xC0FA  # folded into the key of an update


class Copa(EntityQ):
    """With a coach that never speaks it is A-QMIX."""

    def team(self, experiment: Experiment, learner: QLearner) -> Team:
        actor = learner.networks.acting
        if not isinstance(actor, CoachedActor):
            return super().team(experiment, learner)
        coached = CoachedTeam(actor, keeps=q_of(experiment).stored_memory, every=actor.every, draws=True)
        return ExploringCoachedTeam(coached, epsilon_of(experiment, learner.update, learner.team_steps))

    def chance(self, experiment: Experiment, task: Game, episodes: Episode, key: PRNGKeyArray) -> Chance:
        """What the coach's words are drawn with; the slow coach's with the same."""
        del task
        coach = experiment.algorithm.coach
        if coach is None:
            return NOTHING
        count, moments, slots = episodes.present.shape
        broadcasts = -(-moments // coach.every)

        def of_one(key: PRNGKeyArray) -> jax.Array:
            # JAX numbers the draws: more slots change none.
            return jax.random.normal(key, (slots, broadcasts, coach.width)).swapaxes(0, 1)

        keys = jax.random.split(jax.random.fold_in(key, NOISE_DRAWS), count)
        return Chance(noise=jax.vmap(of_one)(keys))
