"""Seconds, operations and memory of training one method on one task: measured in a process of its own.

`pc3d benchmark train` starts `python -m pc3d.benchmark.training TASK METHOD REPEATS EPISODES`, which prints
JSON; EPISODES above 0 chooses the small case with so many of them in an update.
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

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.network_settings import ActorSettings
from pc3d.experiment.ppo_settings import PpoSettings
from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.learners.algorithm import Learner, Work
from pc3d.learners.registry import algorithm_of
from pc3d.learners.replay import Replay
from pc3d.learners.round import EpisodeBatch, Round, play_and_learn, play_and_learn_again, play_round
from pc3d.play.arena import CompiledArena
from pc3d.play.episode import Episode
from pc3d.presets.paper import paper
from pc3d.system.errors import Pc3dError
from pc3d.system.processes import PYTHON
from pc3d.tasks.make import make_task

MATRIX = 1024
COMPARED_EPISODES = 512  # as in the paper's table of wall-clock times
LOOKED_THROUGH = 50  # updates of a stage, for a usual one
LONG_SECONDS = 20.0  # after so many in all, nothing is measured again: an update may take half a minute


@dataclass(frozen=True)
class TrainingSpeed:
    """What `pc3d benchmark train` shows in one row; update and learning are those of the last stage."""

    task: str
    method: str
    matrix_gigaflops: float
    update_seconds: float  # playing and learning
    learning_seconds: float  # of one update, without playing
    useful_gigaflops: float  # 10^9 operations per second of learning, on agents that are there
    agent_steps: float  # gradients of single steps of single agents per second, playing included
    projected_seconds: float  # for the experiment's budget
    seconds_per_512_episodes: float
    cold_compile_seconds: float
    warm_compile_seconds: float
    peak_memory_bytes: int

    @property
    def useful_rate(self) -> float:
        return self.useful_gigaflops / self.matrix_gigaflops

    @property
    def agent_steps_per_100_gigaflops(self) -> float:
        """Of the core's matrix rate: what machines of different speed can be compared by."""
        return self.agent_steps / self.matrix_gigaflops * 100

    @property
    def share_of_playing(self) -> float:
        return 1 - self.learning_seconds / self.update_seconds


@dataclass(frozen=True)
class Beginning:
    """A run before its first update, with the episodes of a later one: as usual ones of a stage."""

    experiment: Experiment
    arena: CompiledArena
    learner: Learner
    batch: EpisodeBatch

    @classmethod
    def of(cls, experiment: Experiment, stage: int) -> Beginning:
        """With a stage's episodes; numbers count from 0."""
        arena = CompiledArena(make_task(experiment)).with_roster(experiment.roster)
        learner = algorithm_of(experiment).fresh(experiment, arena.game)
        whole = cls(experiment, arena, learner, usual_batch(experiment, stage))
        return whole.in_stage(stage)

    def in_stage(self, stage: int) -> Beginning:
        fewest = self.arena.game.fewest_present
        slots = self.experiment.most_slots(self.experiment.curriculum.stages[stage], fewest)
        batch = usual_batch(self.experiment, stage)
        return replace(self, arena=self.arena.with_slots(slots), batch=batch)

    @property
    def team_sizes(self) -> np.ndarray:
        return np.asarray(self.batch.team_sizes)

    def update(self) -> tuple[Learner, Round]:
        """Where there is a replay, it holds nothing but these episodes: an update draws as many as ever."""
        settings, run = (
            self.experiment.algorithm.replay,
            (self.experiment, self.arena, self.learner, self.batch),
        )
        if settings is None:
            return play_and_learn(*run)
        return play_and_learn_again(*run, Replay(settings), self.experiment.seed)

    def lesson(self) -> Episode:
        """What an update learns from."""
        settings = self.experiment.algorithm.replay
        played = play_round(self.experiment, self.arena, self.learner, self.batch)
        if settings is None:
            return played
        replay = Replay(settings)
        replay.add(1, played)
        return replay.drawn(self.experiment.seed, 0)


def usual_batch(experiment: Experiment, stage: int) -> EpisodeBatch:
    """Of the stage's updates, the one whose number of agents is the median."""
    ends = (0, *experiment.curriculum.boundaries(experiment.episodes))
    begins, stops = (-(-end // experiment.episodes_per_update) for end in ends[stage : stage + 2])
    within = range(begins, stops) or [min(begins, experiment.updates - 1)]
    numbers = [experiment.episodes_of_update(update) for update in within[:LOOKED_THROUGH]]
    sizes = [np.array([experiment.team_size_of(number) for number in each]) for each in numbers]
    usual = sorted(range(len(sizes)), key=lambda each: sizes[each].sum())[len(sizes) // 2]
    return EpisodeBatch.of(experiment.seed, numbers[usual], sizes[usual])


def small_case(
    episodes: int, method: str = "ippo", agents: int = 3, width: int = 128, epochs: int = 4
) -> Experiment:
    """A small net and always the same team: what other learners are compared by."""
    experiment = paper("spread", method)
    assert isinstance(experiment.algorithm, PpoSettings)
    small = replace(experiment.algorithm, epochs=epochs, update_every_episodes=1, batch_size=episodes)
    return replace(
        experiment,
        rosters=Rosters(train=(agents,)),
        curriculum=Curriculum((Stage(1.0, (agents,), (1.0,)),)),
        algorithm=small,
        actor=ActorSettings(widths=(width,), rnn_dim=width),
        recipe=replace(experiment.recipe, environments=episodes),
    )


def measure_in_own_process(task: str, method: str, repeats: int, small: int = 0) -> TrainingSpeed:
    """Peak memory and compile time are a process's own."""
    return TrainingSpeed(**answer_of_own_process(__name__, task, method, str(repeats), str(small)))


def answer_of_own_process(module: str, *words: str) -> dict[str, Any]:
    """What one of our modules prints as JSON."""
    command = [*PYTHON, "-m", module, *words]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        said = result.stderr.strip().splitlines()[-1:] or [f"ended with code {result.returncode}"]
        raise Pc3dError(f"measuring {' '.join(words[:2])} failed: {said[0]}")
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def measure_training(experiment: Experiment, repeats: int) -> TrainingSpeed:
    """Measure an update of every stage of the curriculum."""
    stages = experiment.curriculum.stages
    last = Beginning.of(experiment, len(stages) - 1)
    with tempfile.TemporaryDirectory() as cache:
        jax.config.update("jax_compilation_cache_dir", cache)
        cold = seconds_of(last.update)
        jax.clear_caches()
        warm = seconds_of(last.update)
        updates = [median_seconds(last.in_stage(stage).update, repeats) for stage in range(len(stages))]
        learning, rate, work = _learning(last, repeats)
    shares = [stage.fraction for stage in stages]
    projected = experiment.updates * float(np.dot(shares, updates) / sum(shares))
    return TrainingSpeed(
        task=experiment.task,
        method=experiment.method,
        matrix_gigaflops=rate,
        update_seconds=updates[-1],
        learning_seconds=learning,
        useful_gigaflops=work.operations / learning / 1e9,
        agent_steps=work.agent_steps / updates[-1],
        projected_seconds=projected,
        seconds_per_512_episodes=projected * COMPARED_EPISODES / experiment.episodes,
        cold_compile_seconds=cold,
        warm_compile_seconds=warm,
        peak_memory_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    )


def _learning(run: Beginning, repeats: int) -> tuple[float, float, Work]:
    """The seconds of an update without its playing, the matrix rate meanwhile, and what it costs on paper."""
    experiment, game, key = run.experiment, run.arena.game, jax.random.key(0)
    algorithm = algorithm_of(experiment)
    episodes = run.lesson()
    learn = jax.jit(algorithm.learn, static_argnums=(0, 1))
    # In turns: a shared core is not equally fast in every minute.
    work_times, matrix_times, product = [], [], matrix_product()
    for _ in range(2):
        matrix_times.append(median_seconds(product, 10 * repeats))
        work_times.append(
            median_seconds(lambda: learn(experiment, game, run.learner, episodes, key), repeats)
        )
    work = algorithm.work(experiment, game, run.learner, run.team_sizes)
    assert work is not None, "only what has been counted is shown"
    return median(work_times), 2 * MATRIX**3 / median(matrix_times) / 1e9, work


def matrix_product() -> Callable[[], jax.Array]:
    """A plain float32 product: what this core can do at most."""
    matrix, product = jnp.ones((MATRIX, MATRIX)), jax.jit(jnp.matmul)
    return lambda: product(matrix, matrix)


def median_seconds(work: Callable[[], Any], repeats: int) -> float:
    """The median of some repeats, after one that compiles; fewer, but at least one, of what takes long."""
    seconds_of(work)
    times: list[float] = []
    while not times or (len(times) < repeats and sum(times) < LONG_SECONDS):
        times.append(seconds_of(work))
    return median(times)


def seconds_of(work: Callable[[], Any]) -> float:
    """Of this process's own processor time: of one thread, on a quiet core, that is the clock on the wall.

    While others use the machine, that clock would tell of them.
    """
    start = time.process_time()
    jax.block_until_ready(work())
    return time.process_time() - start


if __name__ == "__main__":
    task_word, method_word, repeats_word, small_word = sys.argv[1:5]
    chosen = small_case(int(small_word)) if int(small_word) else paper(task_word, method_word)
    print(json.dumps(asdict(measure_training(chosen, int(repeats_word)))))
