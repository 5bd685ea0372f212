"""Seconds, operations and memory of training one method on one task: measured in a process of its own.

`python -m pc3d.benchmark.training TASK METHOD REPEATS` prints JSON; `pc3d benchmark train` starts it.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

MATRIX = 1024
COMPARED_EPISODES = 512  # as in the paper's table of wall-clock times
LONG_SECONDS = 20.0  # after so many in all, nothing is measured again: an update may take half a minute


@dataclass(frozen=True)
class StageSpeed:
    """One curriculum stage, padded to its largest team."""

    slots: int
    share_of_episodes: float
    useful_share: float  # of the slots, how many are active on average
    update_seconds: float  # playing and learning


@dataclass(frozen=True)
class LearningSpeed:
    """Learning by itself, without playing, in the last stage."""

    seconds: float  # of one update
    gigaflops: float  # 10^9 operations per second
    agent_steps: float  # gradients of agent-steps per second, padding included


@dataclass(frozen=True)
class TrainingSpeed:
    """What `pc3d benchmark train` shows in one row."""

    task: str
    method: str
    matrix_gigaflops: float
    stages: list[StageSpeed]
    learning: LearningSpeed
    projected_seconds: float  # for the paper's budget
    seconds_per_512_episodes: float
    cold_compile_seconds: float
    warm_compile_seconds: float
    peak_memory_bytes: int

    @property
    def share_of_matrix_rate(self) -> float:
        return self.learning.gigaflops / self.matrix_gigaflops

    @property
    def share_of_playing(self) -> float:
        return 1 - self.learning.seconds / self.stages[-1].update_seconds

    @classmethod
    def of(cls, numbers: dict[str, Any]) -> TrainingSpeed:
        """From what `asdict` made of it."""
        stages = [StageSpeed(**stage) for stage in numbers["stages"]]
        return cls(**{**numbers, "stages": stages, "learning": LearningSpeed(**numbers["learning"])})


def measure_training(task_name: str, method: str, repeats: int) -> TrainingSpeed:
    """Measure every stage of the paper's curriculum that has a width of its own."""
    import jax

    from pc3d.learners.registry import algorithm_of
    from pc3d.play.arena import CompiledArena
    from pc3d.presets.paper import paper
    from pc3d.tasks.make import make_task

    experiment = paper(task_name, method)
    arena = CompiledArena(make_task(experiment))
    learner = algorithm_of(experiment).fresh(experiment, arena.game)
    widths: dict[int, tuple[float, float]] = {}
    for stage in experiment.curriculum.stages:
        share, agents = widths.get(stage.largest, (0.0, 0.0))
        mean_size = sum(p * n for p, n in zip(stage.probabilities, stage.team_sizes, strict=True))
        widths[stage.largest] = (share + stage.fraction, agents + stage.fraction * mean_size)
    with tempfile.TemporaryDirectory() as cache:
        jax.config.update("jax_compilation_cache_dir", cache)
        cold = _compile_seconds(experiment, arena, learner)
        jax.clear_caches()
        warm = _compile_seconds(experiment, arena, learner)
        rate = matrix_gigaflops(repeats)
        stages = [
            _stage(experiment, arena.with_slots(slots), learner, share, agents / share, repeats)
            for slots, (share, agents) in widths.items()
        ]
        learning = _learning(experiment, arena.with_slots(stages[-1].slots), learner, repeats)
    projected = experiment.updates * sum(stage.share_of_episodes * stage.update_seconds for stage in stages)
    return TrainingSpeed(
        task=task_name,
        method=method,
        matrix_gigaflops=rate,
        stages=stages,
        learning=learning,
        projected_seconds=projected,
        seconds_per_512_episodes=projected * COMPARED_EPISODES / experiment.episodes,
        cold_compile_seconds=cold,
        warm_compile_seconds=warm,
        peak_memory_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    )


def matrix_gigaflops(repeats: int = 5) -> float:
    """This core's rate at a plain float32 matrix product, in 10^9 operations per second."""
    import jax
    import jax.numpy as jnp

    matrix = jnp.ones((MATRIX, MATRIX))
    product = jax.jit(lambda matrix: matrix @ matrix)
    return 2 * MATRIX**3 / median_seconds(lambda: product(matrix), repeats) / 1e9


def _stage(
    experiment: Any, arena: Any, learner: Any, share: float, mean_size: float, repeats: int
) -> StageSpeed:
    return StageSpeed(
        slots=arena.game.slots,
        share_of_episodes=share,
        useful_share=mean_size / arena.game.slots,
        update_seconds=median_seconds(full_update(experiment, arena, learner), repeats),
    )


def _learning(experiment: Any, arena: Any, learner: Any, repeats: int) -> LearningSpeed:
    import jax

    from pc3d.learners.registry import algorithm_of
    from pc3d.learners.round import full_batch, play_round

    algorithm, game, key = algorithm_of(experiment), arena.game, jax.random.key(0)
    episodes = play_round(experiment, arena, learner, full_batch(experiment, arena))
    learn = jax.jit(algorithm.learn, static_argnums=(0, 1))
    seconds = median_seconds(lambda: learn(experiment, game, learner, episodes, key), repeats)
    work = algorithm.work(experiment, game, learner)
    assert work is not None, "only what has been counted is shown"
    return LearningSpeed(seconds, work.operations / seconds / 1e9, work.agent_steps / seconds)


def full_update(experiment: Any, arena: Any, learner: Any) -> Callable[[], Any]:
    """One update with every slot filled."""
    from pc3d.learners.round import full_batch, play_and_learn

    batch = full_batch(experiment, arena)
    return lambda: play_and_learn(experiment, arena, learner, batch)


def _compile_seconds(experiment: Any, arena: Any, learner: Any) -> float:
    """From nothing to the first update of the last stage."""
    import jax

    widest = arena.with_slots(experiment.curriculum.stages[-1].largest)
    start = time.perf_counter()
    jax.block_until_ready(full_update(experiment, widest, learner)())
    return time.perf_counter() - start


def median_seconds(work: Callable[[], Any], repeats: int) -> float:
    """The median of some repeats, after one that compiles; fewer, but at least one, of what takes long."""
    import jax

    jax.block_until_ready(work())
    times: list[float] = []
    while not times or (len(times) < repeats and sum(times) < LONG_SECONDS):
        start = time.perf_counter()
        jax.block_until_ready(work())
        times.append(time.perf_counter() - start)
    return median(times)


if __name__ == "__main__":
    task_word, method_word, repeats_word = sys.argv[1:4]
    print(json.dumps(asdict(measure_training(task_word, method_word, int(repeats_word)))))
