"""MADDPG, MATD3 and MASAC on whole episodes from a replay, and with PC3D's distillation."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from pc3d.experiment.actor_critic_settings import MasacSettings
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.replayed_settings import ExploringSettings
from pc3d.learners.actor_critic.arithmetic import operations
from pc3d.learners.actor_critic.descent import Steps, descend
from pc3d.learners.actor_critic.learner import ActorCriticLearner
from pc3d.learners.actor_critic.sampling import gumbel_noise
from pc3d.learners.actor_critic.scene import Drawn
from pc3d.learners.actor_critic.settings import actor_critic_of
from pc3d.learners.algorithm import Algorithm, Lesson, Work
from pc3d.learners.distillation import context_health, flat_attention, left_to_fade, weight_of
from pc3d.learners.experience import drawn_steps, refuse_hidden_ends
from pc3d.learners.exploring_team import ExploringTeam, epsilon_of
from pc3d.learners.health import Health
from pc3d.learners.optimiser import Left, fresh_adam, learning_rate
from pc3d.learners.value_scale import ValueScale
from pc3d.networks.build import PolicyNetworks, build
from pc3d.play.actor_team import ActorTeam
from pc3d.play.episode import Episode
from pc3d.play.randomness import Purpose, stream
from pc3d.tasks.task import Game


class ActorCritic(Algorithm):
    """Critics of actions that learn from a replay, and a policy that learns from them; settings say how."""

    def fresh(self, experiment: Experiment, task: Game) -> ActorCriticLearner:
        settings = actor_critic_of(experiment)
        networks = build(stream(experiment.seed, Purpose.INITIALISE), experiment, task)
        start = jnp.asarray(settings.temperature) if isinstance(settings, MasacSettings) else None
        return ActorCriticLearner(
            update=jnp.zeros((), jnp.int32),
            networks=networks,
            slow=networks,
            actor_adam=fresh_adam(experiment, networks.actor),
            critic_adam=fresh_adam(experiment, networks.critic),
            value_scale=ValueScale.fresh(),
            team_steps=jnp.zeros((), jnp.int32),
            log_temperature=None if start is None else jnp.log(start).astype(jnp.float32),
        )

    def team(self, experiment: Experiment, learner: ActorCriticLearner) -> ActorTeam | ExploringTeam:
        """Everybody draws from the policy; MASAC's entropy is exploration enough."""
        settings, actor = actor_critic_of(experiment), learner.networks.actor
        if not isinstance(settings, ExploringSettings):
            return ActorTeam(actor, keeps=settings.stored_memory)
        epsilon = epsilon_of(experiment, learner.update, learner.team_steps)
        return ExploringTeam(actor, epsilon, keeps=settings.stored_memory)

    def after_play(self, learner: ActorCriticLearner, episodes: Episode) -> ActorCriticLearner:
        """Count the steps that were played: exploration falls with them."""
        return replace(learner, team_steps=learner.team_steps + jnp.sum(episodes.played))

    def learn(
        self,
        experiment: Experiment,
        task: Game,
        learner: ActorCriticLearner,
        episodes: Episode,
        key: PRNGKeyArray,
    ) -> tuple[ActorCriticLearner, Lesson]:
        """Take the gradient steps, each on its share of what was drawn."""
        settings, changes = actor_critic_of(experiment), task.roster_changes
        rate = learning_rate(experiment, settings.learning_rate, learner.update)
        # A scale that follows nothing is one.
        scale = learner.value_scale if experiment.recipe.normalise_values else ValueScale.fresh()
        drawn = Drawn(episodes, gumbel_noise(key, episodes, task.action_count))
        left = left_to_fade(experiment, learner.update)
        after, steps = descend(experiment, learner, scale, drawn, rate, left=left, roster_changes=changes)
        scalars = {
            **_scalars(experiment, steps, left),
            **_exploration(experiment, learner),
            "learning_rate": rate,
            **context_health(experiment, learner.networks, learner.slow, episodes, roster_changes=changes),
        }
        optimisers = (after.actor_adam, after.critic_adam)
        finite = Health.of_drawn(
            episodes,
            target=steps.critics.target,
            loss=scalars["loss_total"],
            gradient=(steps.actor_norms, steps.critic_norms),
            optimiser=[(state.mu, state.nu) for state in optimisers],
            parameters=after.networks,
        )
        followed = learner.value_scale.towards(
            steps.critics.target, steps.critics.target_square, experiment.recipe.value_statistics_rate
        )
        return replace(after, update=learner.update + 1, value_scale=followed), Lesson(scalars, finite)

    def policy(self, learner: ActorCriticLearner) -> PolicyNetworks:
        return PolicyNetworks(learner.networks.actor, learner.slow.critic.held_teacher)

    def check(self, experiment: Experiment, task: Game) -> None:
        refuse_hidden_ends(experiment, task)

    def concern(self, line: Mapping[str, Any]) -> str | None:
        return flat_attention(line)

    def work(
        self, experiment: Experiment, task: Game, learner: ActorCriticLearner, team_sizes: np.ndarray
    ) -> Work:
        settings = actor_critic_of(experiment)
        team_steps = drawn_steps(settings, task)
        agent_steps = team_steps * float(team_sizes.mean())
        return Work(operations(settings, learner.networks, agent_steps, team_steps), agent_steps)


def _scalars(experiment: Experiment, steps: Steps, left: Left) -> dict[str, Array]:
    """What metrics call these numbers."""
    critics, actor = steps.critics, steps.actor
    distillation = weight_of(experiment, left) * actor.distillation
    return {
        "loss_total": critics.value + actor.policy + distillation,
        "loss_value": critics.value,
        "loss_policy": actor.policy,
        "loss_distillation": actor.distillation,
        "value": critics.said,
        "value_error": critics.off,
        "entropy": actor.entropy,
        "gate": actor.gate,
        "gate_deviation": jnp.sqrt(jnp.maximum(actor.gate_square - actor.gate**2, 0)),
        "gradient_norm": jnp.mean(steps.critic_norms),
        "actor_gradient_norm": jnp.mean(steps.actor_norms),
    }


def _exploration(experiment: Experiment, learner: ActorCriticLearner) -> dict[str, Array]:
    """What kept the episodes before the update, or will keep the next ones, from being all alike."""
    if learner.log_temperature is not None:
        return {"temperature": jnp.exp(learner.log_temperature)}
    return {"epsilon": epsilon_of(experiment, learner.update, learner.team_steps)}
