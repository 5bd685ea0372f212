"""Who plays while Q-learning learns: everybody's best action, or now and then any."""

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from pc3d.experiment.execution import ALONE, Execution
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.q_learning_settings import QLearningSettings
from pc3d.learners.q_learning.settings import q_of
from pc3d.networks.actor import Actor
from pc3d.play.actor_team import asked
from pc3d.play.team import Decision, View


class ExploringTeam(eqx.Module):
    """Each agent by itself acts at random with probability ε."""

    execution: ClassVar[Execution] = ALONE
    actor: Actor
    epsilon: Float[Array, ""]
    keeps: bool = eqx.field(static=True, default=False)
    """Whether memories are kept."""

    def first(self, episodes: int, slots: int) -> Float[Array, "episode agent h"]:
        return self.actor.first_memory(episodes, slots)

    def step(
        self, memory: Float[Array, "episode agent h"], view: View, chances: Float[Array, "episode agent"]
    ) -> tuple[Float[Array, "episode agent h"], Decision]:
        memory, said = asked(self.actor, memory, view)
        actions = explored(said.logits, chances, self.epsilon)
        return memory, Decision(actions, {"memory": memory} if self.keeps else None)


def explored(
    utilities: Float[Array, "... action"], chances: Float[Array, "..."], epsilon: Float[Array, ""]
) -> Int[Array, "..."]:
    """The best action, or any: a draw below ε, as a share of ε, is uniform again and chooses which."""
    actions = utilities.shape[-1]
    share = chances / jnp.maximum(epsilon, jnp.finfo(jnp.float32).tiny)
    # Rounding can bring a share to 1.
    any_of_them = jnp.minimum(jnp.floor(share * actions), actions - 1).astype(jnp.int32)
    return jnp.where(chances < epsilon, any_of_them, jnp.argmax(utilities, axis=-1))


def epsilon_of(
    experiment: Experiment, update: Int[Array, ""], team_steps: Int[Array, ""]
) -> Float[Array, ""]:
    """ε of an update's episodes: by the steps that were played, and not below what a new stage asks for."""
    settings = q_of(experiment)
    epsilon = epsilon_after(settings, team_steps)
    if not settings.rewarmed_exploration:
        return epsilon
    *begun, _ = experiment.curriculum.boundaries(experiment.episodes)
    since = update * experiment.episodes_per_update - jnp.asarray(begun, jnp.int32)
    left = jnp.where(since >= 0, 1 - since / settings.rewarmed_episodes, 0)
    return jnp.maximum(epsilon, settings.rewarmed_exploration * jnp.max(left, initial=0))


def epsilon_after(settings: QLearningSettings, team_steps: Int[Array, ""]) -> Float[Array, ""]:
    """ε falls linearly with the steps that teams have played."""
    done = jnp.minimum(team_steps / settings.exploration_steps, 1)
    return settings.exploration_start + (settings.exploration_end - settings.exploration_start) * done
