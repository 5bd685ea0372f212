"""Value factorisation (VDN, QMIX) on whole episodes from a replay, and with PC3D's distillation."""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, PRNGKeyArray

from pc3d.experiment.experiment import Experiment
from pc3d.learners.algorithm import Algorithm, Lesson, Work
from pc3d.learners.distillation import context_health, flat_attention, left_to_fade
from pc3d.learners.experience import drawn_steps, refuse_hidden_ends
from pc3d.learners.exploring_team import ExploringTeam, epsilon_of
from pc3d.learners.health import Health
from pc3d.learners.optimiser import fresh_adam, learning_rate
from pc3d.learners.q_learning.arithmetic import operations
from pc3d.learners.q_learning.chance import NOTHING, Chance
from pc3d.learners.q_learning.descent import Descent, descend
from pc3d.learners.q_learning.learner import QLearner
from pc3d.learners.q_learning.losses import LossParts
from pc3d.learners.q_learning.settings import q_of
from pc3d.learners.q_learning.soft_policy import Reference
from pc3d.learners.value_scale import ValueScale
from pc3d.networks.build import PolicyNetworks, build
from pc3d.play.episode import Episode
from pc3d.play.randomness import Purpose, stream
from pc3d.play.team import Team
from pc3d.tasks.task import Game


class QLearning(Algorithm):
    """Double Q-learning of a team's value, which is a monotone mean of its members' utilities."""

    def fresh(self, experiment: Experiment, task: Game) -> QLearner:
        networks = build(stream(experiment.seed, Purpose.INITIALISE), experiment, task)
        return QLearner(
            update=jnp.zeros((), jnp.int32),
            networks=networks,
            slow=networks,
            adam=fresh_adam(experiment, networks),
            value_scale=ValueScale.fresh(),
            team_steps=jnp.zeros((), jnp.int32),
        )

    def team(self, experiment: Experiment, learner: QLearner) -> Team:
        epsilon = epsilon_of(experiment, learner.update, learner.team_steps)
        return ExploringTeam(learner.networks.actor, epsilon, keeps=q_of(experiment).stored_memory)

    def after_play(self, learner: QLearner, episodes: Episode) -> QLearner:
        """Count the steps that were played: exploration falls with them."""
        steps = learner.team_steps + jnp.sum(episodes.played)
        return QLearner(
            learner.update, learner.networks, learner.slow, learner.adam, learner.value_scale, steps
        )

    def learn(
        self,
        experiment: Experiment,
        task: Game,
        learner: QLearner,
        episodes: Episode,
        key: PRNGKeyArray,
        reference: Reference | None = None,
    ) -> tuple[QLearner, Lesson]:
        """Take the gradient steps, each on its share of what was drawn."""
        settings, changes = q_of(experiment), task.roster_changes
        rate = learning_rate(experiment, settings.learning_rate, learner.update)
        parameters, unravel = ravel_pytree(learner.networks)
        start = Descent(parameters, ravel_pytree(learner.slow)[0], learner.adam)
        # A scale that follows nothing is one.
        scale = learner.value_scale if experiment.recipe.normalise_values else ValueScale.fresh()
        end, losses, norms = descend(
            *(experiment, start, unravel, scale, episodes, rate),
            left=left_to_fade(experiment, learner.update),
            roster_changes=changes,
            chance=self.chance(experiment, task, episodes, key),
            reference=reference,
        )
        finite = Health.of_drawn(
            episodes,
            target=losses.target,
            loss=losses.total,
            gradient=norms,
            optimiser=(end.adam.mu, end.adam.nu),
            parameters=end.parameters,
        )
        followed = learner.value_scale.towards(
            losses.target, losses.target_square, experiment.recipe.value_statistics_rate
        )
        scalars = {
            **_scalars(losses),
            "epsilon": epsilon_of(experiment, learner.update, learner.team_steps),
            "gradient_norm": jnp.mean(norms),
            "learning_rate": rate,
            **context_health(experiment, learner.networks, learner.slow, episodes, roster_changes=changes),
        }
        networks, slow = unravel(end.parameters), unravel(end.slow)
        done, steps = learner.update + 1, learner.team_steps
        return QLearner(done, networks, slow, end.adam, followed, steps), Lesson(scalars, finite)

    def chance(self, experiment: Experiment, task: Game, episodes: Episode, key: PRNGKeyArray) -> Chance:
        """Nothing: all that is random came with the episodes."""
        del experiment, task, episodes, key
        return NOTHING

    def policy(self, learner: QLearner) -> PolicyNetworks:
        return PolicyNetworks(learner.networks.acting, learner.slow.critic.held_teacher)

    def check(self, experiment: Experiment, task: Game) -> None:
        refuse_hidden_ends(experiment, task)

    def concern(self, line: Mapping[str, Any]) -> str | None:
        return flat_attention(line)

    def work(
        self, experiment: Experiment, task: Game, learner: QLearner, team_sizes: np.ndarray
    ) -> Work | None:
        team_steps = drawn_steps(q_of(experiment), task)
        agent_steps = team_steps * float(team_sizes.mean())
        return Work(operations(learner.networks, agent_steps, team_steps), agent_steps)


def _scalars(losses: LossParts) -> dict[str, Array]:
    """What metrics call these numbers."""
    return {
        "loss_total": losses.total,
        "loss_value": losses.value,
        "loss_distillation": losses.distillation,
        "value": losses.said,
        "value_error": losses.off,
        **losses.named,
        "gate": losses.gate,
        "gate_deviation": jnp.sqrt(jnp.maximum(losses.gate_square - losses.gate**2, 0)),
    }
