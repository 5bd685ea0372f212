"""How `pc3d benchmark train` measures, and how it hands over what it measured."""

import json
from dataclasses import asdict

import pytest

from pc3d.benchmark import training
from pc3d.benchmark.training import LearningSpeed, StageSpeed, TrainingSpeed, median_seconds


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
    monkeypatch.setattr(training.time, "perf_counter", clock.now)
    assert median_seconds(clock.work, repeats=5) == seconds
    assert clock.calls == 1 + calls  # the first one compiles


def test_a_measurement_survives_its_way_between_processes() -> None:
    stage = StageSpeed(slots=8, share_of_episodes=1.0, useful_share=0.7, update_seconds=2.0)
    speed = TrainingSpeed(
        "spread", "mappo", 100.0, [stage], LearningSpeed(1.5, 60.0, 1e5), 60.0, 9.0, 5, 1, 1
    )
    again = TrainingSpeed.of(json.loads(json.dumps(asdict(speed))))
    assert again == speed
    assert again.share_of_matrix_rate == 0.6
    assert again.share_of_playing == 0.25


class _Clock:
    """A clock on which each piece of work takes the same time."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.calls = 0

    def work(self) -> None:
        self.calls += 1

    def now(self) -> float:
        return self.calls * self.seconds
