"""Value factorisation (VDN, QMIX) on whole episodes from a replay, and with PC3D's distillation."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, PRNGKeyArray

from pc3d.experiment.experiment import Experiment
from pc3d.learners.algorithm import Algorithm, Lesson, Work
from pc3d.learners.distillation import flat_attention, reading_of, teacher_health
from pc3d.learners.health import Health, all_finite
from pc3d.learners.optimiser import adam, learning_rate
from pc3d.learners.q_learning.arithmetic import operations
from pc3d.learners.q_learning.descent import Descent, descend
from pc3d.learners.q_learning.exploring_team import ExploringTeam, epsilon_of
from pc3d.learners.q_learning.learner import QLearner
from pc3d.learners.q_learning.losses import LossParts, decisions_of, said_by, seen_in
from pc3d.learners.q_learning.settings import q_of
from pc3d.learners.value_scale import ValueScale
from pc3d.networks.build import Networks, PolicyNetworks, build
from pc3d.networks.context_health import Measures, recovered, student_sums
from pc3d.play.episode import Episode
from pc3d.play.randomness import Purpose, stream
from pc3d.system.errors import BadInput
from pc3d.tasks.task import Game

LOOKED_INTO = 8  # episodes of an update, for how the teacher is and what students know of it


class QLearning(Algorithm):
    """Double Q-learning of a team's value, which is a monotone mean of its members' utilities."""

    def fresh(self, experiment: Experiment, task: Game) -> QLearner:
        networks = build(stream(experiment.seed, Purpose.INITIALISE), experiment, task)
        return QLearner(
            update=jnp.zeros((), jnp.int32),
            networks=networks,
            slow=networks,
            adam=adam(experiment).init(ravel_pytree(networks)[0]),
            value_scale=ValueScale.fresh(),
            team_steps=jnp.zeros((), jnp.int32),
        )

    def team(self, experiment: Experiment, learner: QLearner) -> ExploringTeam:
        epsilon = epsilon_of(experiment, learner.update, learner.team_steps)
        return ExploringTeam(learner.networks.actor, epsilon, keeps=q_of(experiment).stored_memory)

    def after_play(self, learner: QLearner, episodes: Episode) -> QLearner:
        """Count the steps that were played: exploration falls with them."""
        steps = learner.team_steps + jnp.sum(episodes.played)
        return QLearner(
            learner.update, learner.networks, learner.slow, learner.adam, learner.value_scale, steps
        )

    def learn(
        self, experiment: Experiment, task: Game, learner: QLearner, episodes: Episode, key: PRNGKeyArray
    ) -> tuple[QLearner, Lesson]:
        """Take the gradient steps, each on its share of what was drawn."""
        del key  # all that is random was drawn with the episodes
        settings, changes = q_of(experiment), task.roster_changes
        rate = learning_rate(experiment, settings.learning_rate, learner.update)
        parameters, unravel = ravel_pytree(learner.networks)
        start = Descent(parameters, ravel_pytree(learner.slow)[0], learner.adam)
        # A scale that follows nothing is one.
        scale = learner.value_scale if experiment.recipe.normalise_values else ValueScale.fresh()
        end, losses, norms = descend(
            experiment, start, unravel, scale, episodes, rate, roster_changes=changes
        )
        finite = Health(
            observations=all_finite(seen_in(episodes)),
            rewards=all_finite(episodes.rewards),
            values=jnp.isfinite(losses.target),
            loss=jnp.isfinite(losses.total),
            gradient=all_finite(norms),
            optimiser=all_finite(end.adam.mu) & all_finite(end.adam.nu),
            parameters=all_finite(end.parameters),
        )
        followed = learner.value_scale.towards(
            losses.target, losses.target_square, experiment.recipe.value_statistics_rate
        )
        scalars = {
            **_scalars(losses),
            "epsilon": epsilon_of(experiment, learner.update, learner.team_steps),
            "gradient_norm": jnp.mean(norms),
            "learning_rate": rate,
            **_context_health(experiment, learner.networks, learner.slow, episodes, roster_changes=changes),
        }
        networks, slow = unravel(end.parameters), unravel(end.slow)
        done, steps = learner.update + 1, learner.team_steps
        return QLearner(done, networks, slow, end.adam, followed, steps), Lesson(scalars, finite)

    def policy(self, learner: QLearner) -> PolicyNetworks:
        return PolicyNetworks(learner.networks.actor, learner.slow.critic.held_teacher)

    def check(self, experiment: Experiment, task: Game) -> None:
        """A sequence that is cut from an episode does not show whether that one's time was up."""
        settings = q_of(experiment)
        if task.horizon > settings.sequence_steps and not experiment.recipe.horizon_bootstraps:
            raise BadInput(
                f"recipe.horizon_bootstraps cannot be off with sequences of {settings.sequence_steps} steps: "
                f"q.sequence_steps must be at least {task.horizon}"
            )

    def concern(self, line: Mapping[str, Any]) -> str | None:
        return flat_attention(line)

    def work(self, experiment: Experiment, task: Game, learner: QLearner, team_sizes: np.ndarray) -> Work:
        replay = q_of(experiment).replay
        moments = min(task.horizon, replay.sequence_steps)
        agent_steps, team_steps = replay.drawn * moments * float(team_sizes.mean()), replay.drawn * moments
        return Work(operations(learner.networks, agent_steps, team_steps), agent_steps)


def _scalars(losses: LossParts) -> dict[str, Array]:
    """What metrics call these numbers."""
    return {
        "loss_total": losses.total,
        "loss_value": losses.value,
        "loss_distillation": losses.distillation,
        "value": losses.said,
        "value_error": losses.off,
        "gate": losses.gate,
        "gate_deviation": jnp.sqrt(jnp.maximum(losses.gate_square - losses.gate**2, 0)),
    }


def _context_health(
    experiment: Experiment, networks: Networks, slow: Networks, episodes: Episode, *, roster_changes: bool
) -> Measures:
    """How the averaged teacher is before an update, and what students know of it, if there is one."""
    some = jax.tree.map(lambda values: values[:LOOKED_INTO], episodes)
    seen, decisions = seen_in(some), decisions_of(some)
    reading = reading_of(
        experiment, slow.critic.held_teacher, seen[:, :-1], jnp.asarray(some.present[:, :-1])
    )
    health, standard = teacher_health(reading, decisions)
    said = said_by(networks, some, seen, roster_changes=roster_changes).context
    if reading is None or standard is None or said is None:
        return {}
    sums = student_sums(said[:, :-1], reading.contexts, standard.teammates, decisions)
    return {**recovered(sums, standard), **health}
