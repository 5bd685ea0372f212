"""How `pc3d benchmark train` measures, and how it hands over what it measured."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from pc3d.benchmark import training
from pc3d.benchmark.training import Beginning, TrainingSpeed, median_seconds, small_case, usual_batch
from pc3d.learners.registry import algorithm_of
from pc3d.presets.paper import paper
from tests.small import small_experiment


@pytest.mark.parametrize(
    ("seconds", "calls"),
    [
        pytest.param(1.0, 5, id="short: as often as asked"),
        pytest.param(8.0, 3, id="longer: until it took long enough"),
        pytest.param(60.0, 1, id="long: once"),
    ],
)
def test_what_takes_long_is_repeated_less(
    monkeypatch: pytest.MonkeyPatch, seconds: float, calls: int
) -> None:
    clock = _Clock(seconds)
    monkeypatch.setattr(training.time, "process_time", clock.now)
    assert median_seconds(clock.work, repeats=5) == seconds
    assert clock.calls == 1 + calls  # the first one compiles


def test_a_measurement_survives_its_way_between_processes() -> None:
    speed = TrainingSpeed(
        task="spread",
        method="mappo",
        matrix_gigaflops=100.0,
        update_seconds=2.0,
        learning_seconds=1.5,
        useful_gigaflops=60.0,
        agent_steps=1e5,
        projected_seconds=60.0,
        seconds_per_512_episodes=9.0,
        cold_compile_seconds=5.0,
        warm_compile_seconds=1.0,
        peak_memory_bytes=1,
    )
    again = TrainingSpeed(**json.loads(json.dumps(asdict(speed))))
    assert again == speed
    assert again.useful_rate == 0.6
    assert again.share_of_playing == 0.25
    assert again.agent_steps_per_100_gigaflops == 1e5


@pytest.mark.parametrize("stage", range(4))
def test_a_usual_update_is_of_its_stage_and_has_its_mean_of_agents(stage: int) -> None:
    experiment = paper("spread", "mappo")
    batch = usual_batch(experiment, stage)
    assert {experiment.stage_number(int(number)) for number in batch.numbers} == {stage + 1}
    drawn = float(np.mean(batch.team_sizes))
    assert drawn == pytest.approx(experiment.curriculum.stages[stage].mean, rel=0.05)


def test_the_small_case_has_one_minibatch_of_so_many_episodes_with_three_agents() -> None:
    experiment = small_case(82)
    assert experiment.episodes_per_update == experiment.algorithm.batch_size == 82
    assert set(np.asarray(usual_batch(experiment, 0).team_sizes)) == {3}


@pytest.mark.parametrize("method", ["qmix", "happo"])
def test_what_is_measured_of_an_update_is_what_it_learns_from(method: str) -> None:
    experiment = small_experiment(method, episodes=12)
    run = Beginning.of(experiment, 0)
    lesson, algorithm = run.lesson(), algorithm_of(experiment)
    work = algorithm.work(experiment, run.arena.game, run.learner, run.team_sizes)
    assert work is not None
    replay = experiment.algorithm.replay
    passes, steps = (1, replay.drawn) if replay else (1, 3)  # two turns share two epochs
    assert lesson.played.shape == (steps, 25)
    mean = float(np.mean(run.team_sizes))
    assert work.agent_steps == pytest.approx(passes * steps * 25 * mean)
    after, _ = run.update()
    assert int(after.update) == 1


class _Clock:
    """A clock on which each piece of work takes the same time."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.calls = 0

    def work(self) -> None:
        self.calls += 1

    def now(self) -> float:
        return self.calls * self.seconds
