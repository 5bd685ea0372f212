"""Who plays while an algorithm with a replay learns: all as their actor says, or now and then at random."""

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from pc3d.experiment.execution import ALONE, Execution
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.replayed_settings import ExploringSettings
from pc3d.networks.actor import Actor
from pc3d.play.actor_team import asked
from pc3d.play.choosing import choose
from pc3d.play.team import Decision, View
from pc3d.tasks.chance import any_allowed


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
        actions = explored(said.logits, chances, self.epsilon, view.allowed, greedy=self.actor.values_actions)
        return memory, Decision(actions, {"memory": memory} if self.keeps else None)


def explored(
    logits: Float[Array, "*rows action"],
    chances: Float[Array, "*rows"],
    epsilon: Float[Array, ""],
    allowed: Bool[Array, "*rows action"] | None = None,
    *,
    greedy: bool,
) -> Int[Array, "*rows"]:
    """Any allowed action, or the actor's own: the best one, or one drawn from its policy.

    A draw below ε, as a share of ε, is uniform again and chooses which; so is one above, of the rest.
    """
    actions, tiny = logits.shape[-1], jnp.finfo(jnp.float32).tiny
    share = chances / jnp.maximum(epsilon, tiny)
    # Rounding can bring a share to 1.
    any_of_them = jnp.minimum(jnp.floor(share * actions), actions - 1).astype(jnp.int32)
    if allowed is not None:
        any_of_them = any_allowed(allowed, jnp.minimum(share, 1))
    rest = (chances - epsilon) / jnp.maximum(1 - epsilon, tiny)
    own, _ = choose(logits, rest, allowed, greedy=greedy)
    return jnp.where(chances < epsilon, any_of_them, own)


def epsilon_of(
    experiment: Experiment, update: Int[Array, ""], team_steps: Int[Array, ""]
) -> Float[Array, ""]:
    """ε of an update's episodes: by the steps that were played, and not below what a new stage asks for."""
    settings = experiment.algorithm
    assert isinstance(settings, ExploringSettings)
    epsilon = epsilon_after(settings, team_steps)
    if not settings.rewarmed_exploration:
        return epsilon
    *begun, _ = experiment.curriculum.boundaries(experiment.episodes)
    since = update * experiment.episodes_per_update - jnp.asarray(begun, jnp.int32)
    left = jnp.where(since >= 0, 1 - since / settings.rewarmed_episodes, 0)
    return jnp.maximum(epsilon, settings.rewarmed_exploration * jnp.max(left, initial=0))


def epsilon_after(settings: ExploringSettings, team_steps: Int[Array, ""]) -> Float[Array, ""]:
    """ε falls linearly with the steps that teams have played."""
    done = jnp.minimum(team_steps / settings.exploration_steps, 1)
    return settings.exploration_start + (settings.exploration_end - settings.exploration_start) * done
