"""What a person reads of a run while it trains."""

import pytest

from pc3d.cli.training_display import TrainingDisplay
from tests.small import small_experiment


@pytest.mark.parametrize(("method", "has_context"), [("mappo", False), ("pc3d", True), ("masac", False)])
def test_distillation_and_gate_are_told_where_there_is_a_context_and_nowhere_else(method, has_context):
    display = TrainingDisplay("a run")
    display.experiment = small_experiment(method)
    display.line = {"entropy": 1.0, "loss_distillation": 0.0, "gate": 0.0}
    told = display.headlines()["learner"]
    assert "entropy 1.000" in told
    assert ("gate" in told) == ("distillation" in told) == has_context


def test_recent_returns_are_those_of_the_last_tenth_also_of_a_short_run():
    display = TrainingDisplay("a run")
    display.experiment = small_experiment("mappo")
    display.next_report = 10**9  # nothing is printed
    for episodes in range(10, 410, 10):  # size 2 is no longer met after a quarter of them
        line = {"episodes": episodes, "return_mean_3": episodes, "return_count_3": 10}
        early = {"return_mean_2": episodes, "return_count_2": 10} if episodes <= 100 else {}
        display.logged({**line, **early})
        if episodes == 10:
            assert display.returns(" ") == "2: 10.00 3: 10.00"
    assert display.returns(" ") == "2: 100.00 3: 385.00"  # the lines from 370 to 400
