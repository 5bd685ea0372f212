"""Who plays while Q-learning learns: everybody's best action, or now and then any."""

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from pc3d.experiment.execution import ALONE, Execution
from pc3d.experiment.q_learning_settings import QLearningSettings
from pc3d.networks.actor import Actor
from pc3d.play.actor_team import asked
from pc3d.play.choosing import only_allowed
from pc3d.play.team import Decision, View
from pc3d.tasks.chance import any_allowed


class ExploringTeam(eqx.Module):
    """Each agent by itself acts at random with probability ε."""

    execution: ClassVar[Execution] = ALONE
    actor: Actor
    epsilon: Float[Array, ""]

    def first(self, episodes: int, slots: int) -> Float[Array, "episode agent h"]:
        return self.actor.first_memory(episodes, slots)

    def step(
        self, memory: Float[Array, "episode agent h"], view: View, chances: Float[Array, "episode agent"]
    ) -> tuple[Float[Array, "episode agent h"], Decision]:
        memory, said = asked(self.actor, memory, view)
        return memory, Decision(explored(said.logits, chances, self.epsilon, view.allowed))


def explored(
    utilities: Float[Array, "*rows action"],
    chances: Float[Array, "*rows"],
    epsilon: Float[Array, ""],
    allowed: Bool[Array, "*rows action"] | None = None,
) -> Int[Array, "*rows"]:
    """The best allowed one, or any: a draw below ε, as a share of ε, is uniform again and chooses which."""
    actions = utilities.shape[-1]
    share = chances / jnp.maximum(epsilon, jnp.finfo(jnp.float32).tiny)
    # Rounding can bring a share to 1.
    any_of_them = jnp.minimum(jnp.floor(share * actions), actions - 1).astype(jnp.int32)
    if allowed is not None:
        any_of_them = any_allowed(allowed, jnp.minimum(share, 1))
    best = jnp.argmax(only_allowed(utilities, allowed), axis=-1)
    return jnp.where(chances < epsilon, any_of_them, best)


def epsilon_after(settings: QLearningSettings, team_steps: Int[Array, ""]) -> Float[Array, ""]:
    """ε falls linearly with the steps that teams have played."""
    done = jnp.minimum(team_steps / settings.exploration_steps, 1)
    return settings.exploration_start + (settings.exploration_end - settings.exploration_start) * done
