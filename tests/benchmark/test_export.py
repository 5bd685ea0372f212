"""The time of one agent's step: every number is measured, and files are as small as promised."""

import pytest

from pc3d import cli
from pc3d.benchmark.export import measure_step


@pytest.mark.parametrize(("task", "method"), [("spread", "hyper-pc3d"), ("rware", "ippo")])
def test_the_largest_policies_of_the_paper_are_measured_and_small(task, method):
    step = measure_step(task, method, repeats=1, seconds=0.01)
    assert min(step.in_package, step.float32, step.int8) > 0
    assert step.int8_bytes < step.float32_bytes / 3 < 2 * 2**20 / 3


def test_the_command_shows_a_row_per_policy(capsys):
    words = [
        "benchmark",
        "export",
        "--task",
        "lbf",
        "--methods",
        "pc3d",
        "--repeats",
        "1",
        "--seconds",
        "0.01",
    ]
    assert cli.main(words) == 0
    shown = capsys.readouterr().out
    assert "One step of one agent" in shown
    assert "lbf" in shown
    assert shown.count("µs") == 3
    assert shown.count("KiB") == 2
