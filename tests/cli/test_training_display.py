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
