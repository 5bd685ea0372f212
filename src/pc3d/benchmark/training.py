"""Seconds, operations and memory of training one method on one task: measured in a process of its own.

`python -m pc3d.benchmark.training TASK METHOD REPEATS` prints JSON; `pc3d benchmark train` starts it.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pc3d.experiment.rosters import Stage
from pc3d.experiment.settings import Experiment
from pc3d.learners.algorithm import Learner, Work
from pc3d.learners.registry import algorithm_of
from pc3d.learners.round import Round, full_batch, play_and_learn, play_round
from pc3d.play.arena import CompiledArena
from pc3d.presets.paper import paper
from pc3d.system.errors import Pc3dError
from pc3d.system.processes import PYTHON
from pc3d.tasks.make import make_task

MATRIX = 1024
COMPARED_EPISODES = 512  # as in the paper's table of wall-clock times
LONG_SECONDS = 20.0  # after so many in all, nothing is measured again: an update may take half a minute


@dataclass(frozen=True)
class TrainingSpeed:
    """What `pc3d benchmark train` shows in one row; update and learning are those of the last stage."""

    task: str
    method: str
    matrix_gigaflops: float
    update_seconds: float  # playing and learning
    useful_share: float  # of the slots, how many are active on average
    learning_seconds: float  # of one update, without playing
    learning_gigaflops: float  # 10^9 operations per second
    agent_steps: float  # gradients of agent-steps per second, padding included
    projected_seconds: float  # for the paper's budget
    seconds_per_512_episodes: float
    cold_compile_seconds: float
    warm_compile_seconds: float
    peak_memory_bytes: int

    @property
    def share_of_matrix_rate(self) -> float:
        return self.learning_gigaflops / self.matrix_gigaflops

    @property
    def share_of_playing(self) -> float:
        return 1 - self.learning_seconds / self.update_seconds


@dataclass(frozen=True)
class Beginning:
    """A run before its first update."""

    experiment: Experiment
    arena: CompiledArena
    learner: Learner

    @classmethod
    def of(cls, experiment: Experiment) -> Beginning:
        arena = CompiledArena(make_task(experiment))
        return cls(experiment, arena, algorithm_of(experiment).fresh(experiment, arena.game))

    def with_slots(self, slots: int) -> Beginning:
        return replace(self, arena=self.arena.with_slots(slots))

    def update(self) -> tuple[Learner, Round]:
        """One update with every slot filled."""
        batch = full_batch(self.experiment, self.arena)
        return play_and_learn(self.experiment, self.arena, self.learner, batch)


def measure_in_own_process(task: str, method: str, repeats: int) -> TrainingSpeed:
    """Peak memory and compile time are a process's own."""
    words = [*PYTHON, "-m", "pc3d.benchmark.training", task, method, str(repeats)]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        said = result.stderr.strip().splitlines()[-1:] or [f"ended with code {result.returncode}"]
        raise Pc3dError(f"measuring {task} {method} failed: {said[0]}")
    return TrainingSpeed(**json.loads(result.stdout))


def measure_training(task_name: str, method: str, repeats: int) -> TrainingSpeed:
    """Measure every stage of the paper's curriculum that has a width of its own."""
    experiment = paper(task_name, method)
    run, stages = Beginning.of(experiment), experiment.curriculum.stages
    slots = stages[-1].largest
    last = run.with_slots(slots)
    with tempfile.TemporaryDirectory() as cache:
        jax.config.update("jax_compilation_cache_dir", cache)
        cold = _seconds(last.update)
        jax.clear_caches()
        warm = _seconds(last.update)
        rate = 2 * MATRIX**3 / median_seconds(matrix_product(), repeats) / 1e9
        widths = sorted({stage.largest for stage in stages})
        updates = {width: median_seconds(run.with_slots(width).update, repeats) for width in widths}
        learning, work = _learning(last, repeats)
    projected = experiment.updates * sum(stage.fraction * updates[stage.largest] for stage in stages)
    return TrainingSpeed(
        task=task_name,
        method=method,
        matrix_gigaflops=rate,
        update_seconds=updates[slots],
        useful_share=_useful_share([stage for stage in stages if stage.largest == slots]),
        learning_seconds=learning,
        learning_gigaflops=work.operations / learning / 1e9,
        agent_steps=work.agent_steps / learning,
        projected_seconds=projected,
        seconds_per_512_episodes=projected * COMPARED_EPISODES / experiment.episodes,
        cold_compile_seconds=cold,
        warm_compile_seconds=warm,
        peak_memory_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    )


def _useful_share(stages: list[Stage]) -> float:
    """Of stages of one width: how many of their slots the curriculum fills on average."""
    agents = sum(stage.fraction * np.dot(stage.probabilities, stage.team_sizes) for stage in stages)
    return float(agents / sum(stage.fraction for stage in stages) / stages[0].largest)


def _learning(run: Beginning, repeats: int) -> tuple[float, Work]:
    """The seconds of an update without its playing, and what it costs on paper."""
    experiment, game, key = run.experiment, run.arena.game, jax.random.key(0)
    algorithm = algorithm_of(experiment)
    episodes = play_round(experiment, run.arena, run.learner, full_batch(experiment, run.arena))
    learn = jax.jit(algorithm.learn, static_argnums=(0, 1))
    seconds = median_seconds(lambda: learn(experiment, game, run.learner, episodes, key), repeats)
    work = algorithm.work(experiment, game, run.learner)
    assert work is not None, "only what has been counted is shown"
    return seconds, work


def matrix_product() -> Callable[[], jax.Array]:
    """A plain float32 product: what this core can do at most."""
    matrix, product = jnp.ones((MATRIX, MATRIX)), jax.jit(jnp.matmul)
    return lambda: product(matrix, matrix)


def median_seconds(work: Callable[[], Any], repeats: int) -> float:
    """The median of some repeats, after one that compiles; fewer, but at least one, of what takes long."""
    _seconds(work)
    times: list[float] = []
    while not times or (len(times) < repeats and sum(times) < LONG_SECONDS):
        times.append(_seconds(work))
    return median(times)


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    jax.block_until_ready(work())
    return time.perf_counter() - start


if __name__ == "__main__":
    task_word, method_word, repeats_word = sys.argv[1:4]
    print(json.dumps(asdict(measure_training(task_word, method_word, int(repeats_word)))))
