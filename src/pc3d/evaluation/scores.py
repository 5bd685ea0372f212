"""Scores by team size: the policy plays whole episodes, side by side, in one compiled program."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from pc3d.evaluation.starts import rollout_keys
from pc3d.networks.actor import Actor
from pc3d.rollout import play
from pc3d.tasks.task import AnyTask

MOST_AT_ONCE = 128  # episodes side by side; more are no faster on a CPU and only fill the memory


class Scores(eqx.Module):
    """What the rollouts of one team size came to."""

    returns: Float[Array | np.ndarray, " rollout"]
    measures: Mapping[str, Float[Array | np.ndarray, " rollout"]]


def returns_by_size(
    task: AnyTask, actor: Actor, team_sizes: tuple[int, ...], rollouts: int, *, greedy: bool = False
) -> dict[int, Float[np.ndarray, " rollout"]]:
    """The reported returns of that many rollouts of each size."""
    wide = task.with_slots(max(team_sizes))
    return {
        size: np.asarray(score(wide, actor, size, rollouts, greedy=greedy).returns) for size in team_sizes
    }


def score(task: AnyTask, actor: Actor, team_size: int, rollouts: int, *, greedy: bool = False) -> Scores:
    """Score one team size.

    The size is data, so all sizes share one program if the task is as wide as the largest of them. That
    beats a narrower program for each size: compiling one takes longer than the padding costs.
    """
    batches = -(-rollouts // MOST_AT_ONCE)
    per_batch = -(-rollouts // batches)
    # Equal batches, so that none needs a program of its own: the last one may play more than is kept.
    keys = rollout_keys(team_size, batches * per_batch).reshape(batches, per_batch)
    played = [jax.device_get(_play_batch(task, greedy, actor, part, jnp.asarray(team_size))) for part in keys]
    return jax.tree.map(lambda *parts: np.concatenate(parts)[:rollouts], *played)


@partial(jax.jit, static_argnums=(0, 1))
def _play_batch(
    task: AnyTask, greedy: bool, actor: Actor, keys: PRNGKeyArray, team_size: Int[Array, ""]
) -> Scores:
    episodes = jax.vmap(lambda key: play(task, actor, key, team_size, greedy=greedy))(keys)
    return Scores(task.reported_return(episodes.total_reward, team_size), episodes.measures)
