"""A whole episode of a team that acts at random, as one pure function."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from pc3d.tasks.task import AnyTask


class RandomEpisode(eqx.Module):
    """Where an episode stands, or how it went."""

    state: Any  # the last one before the episode ended
    total_reward: Float[Array, ""]
    seen: Float[Array, ""]  # the sum of all observations: it forces a compiler to compute them
    ended: Bool[Array, ""]


def play_at_random(
    task: AnyTask, key: PRNGKeyArray, team_size: int | Int[Array, ""], steps: int | None = None
) -> RandomEpisode:
    """Reset, then act, step and observe for the full horizon (or so many steps)."""
    reset_key, action_key, step_key = jax.random.split(key, 3)
    steps = task.horizon if steps is None else steps
    actions = jax.random.randint(action_key, (steps, task.slots), 0, task.action_count)

    def play_step(
        episode: RandomEpisode, now: tuple[Int[Array, " agent"], PRNGKeyArray]
    ) -> tuple[RandomEpisode, None]:
        actions, key = now
        state, outcome = task.step(key, episode.state, actions)
        reward = jnp.where(episode.ended, 0, outcome.reward)
        return RandomEpisode(
            state=jax.tree.map(lambda old, new: jnp.where(episode.ended, old, new), episode.state, state),
            total_reward=episode.total_reward + reward,
            seen=episode.seen + jnp.sum(task.observe(state)),
            ended=episode.ended | outcome.terminated | outcome.truncated,
        ), None

    state = task.reset(reset_key, team_size)
    start = RandomEpisode(state, jnp.zeros(()), jnp.sum(task.observe(state)), jnp.asarray(False))
    episode, _ = jax.lax.scan(play_step, start, (actions, jax.random.split(step_key, steps)))
    return episode
