"""How `pc3d benchmark train` measures, and how it hands over what it measured."""

import json
from dataclasses import asdict

import pytest

from pc3d.benchmark import training
from pc3d.benchmark.training import TrainingSpeed, _useful_share, median_seconds
from pc3d.experiment.rosters import Stage


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
    speed = TrainingSpeed(
        task="spread",
        method="mappo",
        matrix_gigaflops=100.0,
        update_seconds=2.0,
        useful_share=0.7,
        learning_seconds=1.5,
        learning_gigaflops=60.0,
        agent_steps=1e5,
        projected_seconds=60.0,
        seconds_per_512_episodes=9.0,
        cold_compile_seconds=5.0,
        warm_compile_seconds=1.0,
        peak_memory_bytes=1,
    )
    again = TrainingSpeed(**json.loads(json.dumps(asdict(speed))))
    assert again == speed
    assert again.share_of_matrix_rate == 0.6
    assert again.share_of_playing == 0.25


def test_useful_slots_are_weighed_by_the_episodes_of_their_stages() -> None:
    stages = [Stage(0.1, (2, 4), (0.5, 0.5)), Stage(0.3, (4,), (1.0,))]
    assert _useful_share(stages) == pytest.approx((0.1 * 3 / 4 + 0.3) / 0.4)


class _Clock:
    """A clock on which each piece of work takes the same time."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.calls = 0

    def work(self) -> None:
        self.calls += 1

    def now(self) -> float:
        return self.calls * self.seconds
