"""What a value should have been: rewards that followed, then what the slow copy expects."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.replayed_settings import ReplayedSettings
from pc3d.play.episode import Episode


def targets_of(
    experiment: Experiment,
    episodes: Episode,
    next_values: Float[Array, "episode time"],
    bonuses: Float[Array, "episode time"] | None = None,
) -> Float[Array, "episode time"]:
    """y_t = r_t + γ ((1 − λ) Q⁻_{t+1} + λ (y_{t+1} + b_{t+1})); nothing follows a termination.

    `next_values` are the slow copy's, in the task's own scale, of the moment after each step; so are bonuses,
    which count in those values already, and along the way have to be added.
    """
    settings, recipe = experiment.algorithm, experiment.recipe
    assert isinstance(settings, ReplayedSettings)
    discount, trace = settings.discount, settings.trace
    played, rewards = episodes.played, episodes.rewards
    if recipe.reward_per_agent:
        rewards = rewards / episodes.team_size[:, None]
    last = played & ~jnp.pad(played[:, 1:], ((0, 0), (0, 1)))
    stops = episodes.terminated if recipe.horizon_bootstraps else episodes.terminated | last

    def step(later: Array, now: tuple[Any, ...]) -> tuple[Array, Array]:
        reward, value, stop, ends, bonus = now
        followed = later if bonus is None else later + bonus
        # Beyond the last step that counts, the value is all there is.
        following = jnp.where(ends, value, (1 - trace) * value + trace * followed)
        target = reward + discount * jnp.where(stop, 0, following)
        return target, target

    parts = (rewards, next_values, stops, last, bonuses)
    by_time = jax.tree.map(lambda part: jnp.moveaxis(part, 1, 0), parts)
    _, targets = jax.lax.scan(step, jnp.zeros(len(rewards)), by_time, reverse=True)
    return jnp.moveaxis(targets, 0, 1)
