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
from pc3d.hosted.crew import Crew
from pc3d.lockstep import ActorTeam, Begin, Team, on_host, play_in_lockstep
from pc3d.networks.actor import Actor
from pc3d.rollout import play
from pc3d.tasks import playable
from pc3d.tasks.task import AnyTask, Game

MOST_AT_ONCE = 128  # episodes side by side; more are no faster on a CPU and only fill the memory


class Scores(eqx.Module):
    """What the rollouts of one team size came to."""

    returns: Float[Array | np.ndarray, " rollout"]
    measures: Mapping[str, Float[Array | np.ndarray, " rollout"]]


def returns_by_size(
    task: Game,
    actor: Actor,
    team_sizes: tuple[int, ...],
    rollouts: int,
    *,
    greedy: bool = False,
    crew: Crew | None = None,
) -> dict[int, Float[np.ndarray, " rollout"]]:
    """The reported returns of that many rollouts of each size."""
    wide = task.with_slots(max(team_sizes))
    return {
        size: np.asarray(score(wide, actor, size, rollouts, greedy=greedy, crew=crew).returns)
        for size in team_sizes
    }


def score(
    task: Game,
    actor: Actor,
    team_size: int,
    rollouts: int,
    *,
    greedy: bool = False,
    crew: Crew | None = None,
) -> Scores:
    """Score one team size, in the worlds of the crew if there is one.

    The size is data, so all sizes share one program if the task is as wide as the largest of them. That
    beats a narrower program for each size: compiling one takes longer than the padding costs.
    """
    batches = -(-rollouts // MOST_AT_ONCE)
    per_batch = -(-rollouts // batches)
    # Equal batches, so that none needs a program of its own: the last one may play more than is kept.
    keys = rollout_keys(team_size, batches * per_batch).reshape(batches, per_batch)
    if crew is None:
        worlds, size = playable(task), jnp.asarray(team_size)
        played = [jax.device_get(_play_batch(worlds, greedy, actor, part, size)) for part in keys]
    else:
        played = [
            score_team(task, part, team_size, on_host(crew), ActorTeam(actor, greedy=greedy)) for part in keys
        ]
    return jax.tree.map(lambda *parts: np.concatenate(parts)[:rollouts], *played)


def score_team(task: Game, keys: PRNGKeyArray, team_size: int, begin: Begin, team: Team) -> Scores:
    """Score any team in any worlds, stepped on the host."""
    episodes = play_in_lockstep(task, keys, np.full(len(keys), team_size), begin, team)
    returns = task.reported_return(jnp.asarray(episodes.total_reward), jnp.asarray(team_size))
    return Scores(np.asarray(returns), episodes.measures)


@partial(jax.jit, static_argnums=(0, 1))
def _play_batch(
    task: AnyTask, greedy: bool, actor: Actor, keys: PRNGKeyArray, team_size: Int[Array, ""]
) -> Scores:
    episodes = jax.vmap(lambda key: play(task, actor, key, team_size, greedy=greedy))(keys)
    return Scores(task.reported_return(episodes.total_reward, team_size), episodes.measures)
