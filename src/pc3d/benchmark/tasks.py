"""Environment steps per second of ports and originals, measured side by side in one process."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from pc3d.tasks.make import original_world
from pc3d.tasks.original_world import OriginalWorld
from pc3d.tasks.task import AnyTask

PARALLEL_EPISODES = (1, 8, 256)


@dataclass(frozen=True)
class TaskSpeed:
    """Steps of the whole team per second, with reset, random actions and everyone's observation."""

    task_name: str
    team_size: int
    original: float
    port: list[float]  # by how many episodes are played in parallel


def measure_task(task: AnyTask, repeats: int, seconds: float) -> TaskSpeed:
    """Measure one team size (all slots active): the median of some repeats of at least so many seconds."""
    port = [port_speed(task, episodes, repeats, seconds) for episodes in PARALLEL_EPISODES]
    with contextlib.closing(original_world(task)) as world:
        return TaskSpeed(task.name, task.slots, _median_speed(_original(world), repeats, seconds), port)


def port_speed(task: AnyTask, episodes: int, repeats: int, seconds: float) -> float:
    """Steps of the whole team per second in so many worlds side by side."""
    return _median_speed(_port(task, episodes), repeats, seconds)


def _median_speed(play: Callable[[int], int], repeats: int, seconds: float) -> float:
    """`play` plays once, given a seed, and returns how many steps that were."""
    play(0)  # compiles, fills caches
    speeds, seed = [], 1
    for _ in range(repeats):
        steps, start = 0, time.perf_counter()
        # At least once, however long another program keeps the core.
        while (elapsed := time.perf_counter() - start) < seconds or not steps:
            steps += play(seed)
            seed += 1
        speeds.append(steps / elapsed)
    return median(speeds)


def _port(task: AnyTask, episodes: int) -> Callable[[int], int]:
    @jax.jit
    def play_all(seed: int) -> _RandomEpisode:
        return jax.vmap(partial(_play_at_random, task))(jax.random.split(jax.random.key(seed), episodes))

    def play(seed: int) -> int:
        jax.block_until_ready(play_all(seed))
        return episodes * task.horizon

    return play


class _RandomEpisode(eqx.Module):
    """Where an episode stands, or how it went."""

    state: Any  # the last one before the episode ended
    total_reward: Float[Array, ""]
    seen: Float[Array, ""]  # the sum of all observations: it forces a compiler to compute them
    ended: Bool[Array, ""]


def _play_at_random(task: AnyTask, key: PRNGKeyArray) -> _RandomEpisode:
    """Not the loop of play: its records of every step would be measured, too."""
    reset_key, action_key, step_key = jax.random.split(key, 3)
    actions = jax.random.randint(action_key, (task.horizon, task.slots), 0, task.action_count)

    def play_step(
        episode: _RandomEpisode, now: tuple[Int[Array, " agent"], PRNGKeyArray]
    ) -> tuple[_RandomEpisode, None]:
        actions, key = now
        state, outcome = task.step(key, episode.state, actions)
        return _RandomEpisode(
            state=jax.tree.map(lambda old, new: jnp.where(episode.ended, old, new), episode.state, state),
            total_reward=episode.total_reward + jnp.where(episode.ended, 0, outcome.reward),
            seen=episode.seen + jnp.sum(task.observe(state)),
            ended=episode.ended | outcome.terminated | outcome.truncated,
        ), None

    state = task.reset(reset_key, task.slots)
    start = _RandomEpisode(state, jnp.zeros(()), jnp.sum(task.observe(state)), jnp.asarray(False))
    return jax.lax.scan(play_step, start, (actions, jax.random.split(step_key, task.horizon)))[0]


def _original(world: OriginalWorld[Any]) -> Callable[[int], int]:
    def play(seed: int) -> int:
        generator = np.random.default_rng(seed)
        world.reset(seed)
        world.observe()
        steps, ended = 0, False
        while not ended:
            outcome = world.step(generator.integers(world.task.action_count, size=world.team_size))
            world.observe()
            steps += 1
            ended = bool(outcome.terminated | outcome.truncated)
        return steps

    return play
