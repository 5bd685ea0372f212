"""The examples run as they are, in a process of their own, and stay short."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
LONGEST = 60
LONGER = {"deploy_original": 120, "numpy_policy": 70}
EXPECTED = {
    "quickstart": r"after 128 episodes.*return: sum over 25 steps.*10 agents, a size never trained on: -\d",
    "new_task": r"2 agents \(train\): -\d.*8 agents \(test\): -\d",
    "continuous_task": r"2 agents \(train\): -\d.*6 agents \(test\): -\d",
    "new_method": r"peak, 3 agents: -\d.*film, 3 agents: -\d",
}


def test_every_example_is_expected():
    assert {path.stem for path in EXAMPLES.glob("*.py")} >= set(EXPECTED)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_is_short(path):
    assert len(path.read_text().splitlines()) <= LONGER.get(path.stem, LONGEST)


@pytest.mark.parametrize("name", EXPECTED)
def test_an_example_runs(name, tmp_path):
    finished = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py")],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert re.search(EXPECTED[name], finished.stdout, re.DOTALL), finished.stdout
