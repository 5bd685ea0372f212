"""How the cost of changing teams is measured."""

import pytest

from pc3d.benchmark import training
from pc3d.benchmark.churn import ChurnCost, in_turns


def test_works_take_turns_and_the_first_of_each_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    order, seconds = [], {"a": iter([90.0, 1.0, 5.0, 2.0]), "b": iter([90.0, 3.0, 4.0, 9.0])}
    clock = [0.0]

    def work(name: str) -> None:
        order.append(name)
        clock[0] += next(seconds[name])

    monkeypatch.setattr(training.time, "process_time", lambda: clock[0])
    assert in_turns((lambda: work("a"), lambda: work("b")), 3) == [2.0, 4.0]
    assert "".join(order) == "abababab"


def test_the_ratio_is_of_churn_to_constant() -> None:
    assert ChurnCost("spread", "pc3d", 2.0, 2.2, 6.0, 5.0).ratio == pytest.approx(1.1)
