"""Environment steps per second of ports and originals, measured side by side in one process."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import jax
import numpy as np

from pc3d.benchmark.random_play import RandomEpisode, play_at_random
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
    port: dict[int, float]  # by the number of episodes played in parallel

    def speedup(self, episodes: int) -> float:
        return self.port[episodes] / self.original


def measure(task: AnyTask, repeats: int, seconds: float) -> TaskSpeed:
    """Measure one team size (all slots active): the median of some repeats of at least so many seconds."""
    port = {
        episodes: _median_speed(_port(task, episodes), repeats, seconds) for episodes in PARALLEL_EPISODES
    }
    world = original_world(task)
    original = _median_speed(_original(world), repeats, seconds)
    world.close()
    return TaskSpeed(task.name, task.slots, original, port)


def _median_speed(play: Callable[[int], int], repeats: int, seconds: float) -> float:
    """`play` plays once, given a seed, and returns how many steps that were."""
    play(0)  # compiles, fills caches
    speeds, seed = [], 1
    for _ in range(repeats):
        steps, start = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - start) < seconds:
            steps += play(seed)
            seed += 1
        speeds.append(steps / elapsed)
    return median(speeds)


def _port(task: AnyTask, episodes: int) -> Callable[[int], int]:
    @jax.jit
    def play_all(seed: int) -> RandomEpisode:
        keys = jax.random.split(jax.random.key(seed), episodes)
        return jax.vmap(partial(play_at_random, task, team_size=task.slots))(keys)

    def play(seed: int) -> int:
        jax.block_until_ready(play_all(seed))
        return episodes * task.horizon

    return play


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
