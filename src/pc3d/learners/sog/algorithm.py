"""SOG with conductors that are elected at random: REFIL whose agents talk in groups."""

from dataclasses import replace

import jax
from jaxtyping import PRNGKeyArray

from pc3d.experiment.experiment import Experiment
from pc3d.learners.entity_q.algorithm import EntityQ
from pc3d.learners.exploring_team import epsilon_of
from pc3d.learners.q_learning.chance import Chance
from pc3d.learners.q_learning.learner import QLearner
from pc3d.learners.q_learning.settings import q_of
from pc3d.learners.sog.team import ExploringConductedTeam
from pc3d.networks.conducted_actor import ConductedActor
from pc3d.play.conducted_team import ConductedTeam
from pc3d.play.episode import Episode
from pc3d.play.team import Team
from pc3d.system.errors import BadInput
from pc3d.tasks.task import Game

MESSAGE_DRAWS = 0x506  # folded into the key of an update


class Sog(EntityQ):
    """Without elections it is REFIL."""

    def team(self, experiment: Experiment, learner: QLearner) -> Team:
        actor = learner.networks.actor
        if not isinstance(actor, ConductedActor):
            return super().team(experiment, learner)
        epsilon = epsilon_of(experiment, learner.update, learner.team_steps)
        return ExploringConductedTeam(ConductedTeam(actor, draws=True), epsilon)

    def chance(self, experiment: Experiment, task: Game, episodes: Episode, key: PRNGKeyArray) -> Chance:
        """Groups as REFIL's, and what messages are drawn with where they are told apart."""
        usual, groups = super().chance(experiment, task, episodes, key), experiment.algorithm.conducting
        if groups is None:
            return usual
        count, moments, slots = episodes.present.shape

        def of_one(key: PRNGKeyArray) -> jax.Array:
            # JAX numbers the draws: more slots change none.
            return jax.random.normal(key, (slots, moments, groups.width)).swapaxes(0, 1)

        keys = jax.random.split(jax.random.fold_in(key, MESSAGE_DRAWS), count)
        return replace(usual, noise=jax.vmap(of_one)(keys))

    def check(self, experiment: Experiment, task: Game) -> None:
        super().check(experiment, task)
        if q_of(experiment).stored_memory:
            raise BadInput("sog.stored_memory cannot be on: what was heard is kept instead; burn in")
