"""What a team's value should have been: rewards that followed, then what the slow copy expects."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pc3d.experiment.experiment import Experiment
from pc3d.learners.q_learning.settings import q_of
from pc3d.play.choosing import of_action
from pc3d.play.episode import Episode


def double_q(online: Float[Array, "... action"], slow: Float[Array, "... action"]) -> Float[Array, "..."]:
    """What the slow copy thinks of the action that the learning network would take."""
    return of_action(slow, jnp.argmax(online, axis=-1))


def targets_of(
    experiment: Experiment, episodes: Episode, next_values: Float[Array, "episode time"]
) -> Float[Array, "episode time"]:
    """y_t = r_t + γ ((1 − λ) Q⁻_{t+1} + λ y_{t+1}); nothing follows a termination.

    `next_values` are the slow copy's, in the task's own scale, of the moment after each step.
    """
    settings, recipe = q_of(experiment), experiment.recipe
    played, rewards = episodes.played, episodes.rewards
    if recipe.reward_per_agent:
        rewards = rewards / episodes.team_size[:, None]
    last = played & ~jnp.pad(played[:, 1:], ((0, 0), (0, 1)))
    stops = episodes.terminated if recipe.horizon_bootstraps else episodes.terminated | last

    def step(later: Array, now: tuple[Array, Array, Array, Array]) -> tuple[Array, Array]:
        reward, value, stop, ends = now
        # Beyond the last step that counts, the value is all there is.
        following = jnp.where(ends, value, (1 - settings.trace) * value + settings.trace * later)
        target = reward + settings.discount * jnp.where(stop, 0, following)
        return target, target

    by_time = jax.tree.map(lambda part: jnp.moveaxis(part, 1, 0), (rewards, next_values, stops, last))
    _, targets = jax.lax.scan(step, jnp.zeros(len(rewards)), by_time, reverse=True)
    return jnp.moveaxis(targets, 0, 1)
