"""How well a policy cooperates at each team size. Starts depend on (task, size, rollout) alone."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from pc3d.networks.actor import Actor
from pc3d.randomness import Purpose, stream
from pc3d.rollout import play
from pc3d.tasks.task import AnyTask

STARTS_SEED = 20_260_000  # every method and every seed meets the same starts
ROLLOUTS_PER_SIZE = 1_000_000  # starts of different sizes never share a number


def rollout_keys(team_size: int, rollouts: int) -> PRNGKeyArray:
    """The keys of a size's rollouts: the same for all methods, and unknown to training."""
    numbers = team_size * ROLLOUTS_PER_SIZE + jnp.arange(rollouts)
    return jax.vmap(partial(stream, STARTS_SEED, Purpose.EVALUATE))(numbers)


def returns_by_size(
    task: AnyTask, actor: Actor, team_sizes: tuple[int, ...], rollouts: int, *, greedy: bool = False
) -> dict[int, Float[np.ndarray, " rollout"]]:
    """The reported returns of that many rollouts of each size, all in one compiled program."""
    wide = task.with_slots(max(team_sizes))
    return {
        size: np.asarray(_returns(wide, greedy, actor, rollout_keys(size, rollouts), jnp.asarray(size)))
        for size in team_sizes
    }


@partial(jax.jit, static_argnums=(0, 1))
def _returns(
    task: AnyTask, greedy: bool, actor: Actor, keys: PRNGKeyArray, team_size: Int[Array, ""]
) -> Float[Array, " rollout"]:
    episodes = jax.vmap(lambda key: play(task, actor, key, team_size, greedy=greedy))(keys)
    return task.reported_return(episodes.total_reward, team_size)
