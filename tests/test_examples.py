"""The examples run as they are, in a process of their own, and stay short."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
LONGEST = 60
LONGER = {"deploy_original": 120, "numpy_policy": 75}
EXPECTED = {
    "quickstart": r"after 128 episodes.*return: sum over 25 steps.*10 agents, a size never trained on: -\d",
    "new_task": r"2 agents \(train\): -\d.*8 agents \(test\): -\d",
    "continuous_task": r"2 agents \(train\): -\d.*6 agents \(test\): -\d",
    "new_method": r"peak, 3 agents: -\d.*film, 3 agents: -\d",
}


def test_every_example_is_expected():
    assert {path.stem for path in EXAMPLES.glob("*.py")} >= set(EXPECTED)


@pytest.mark.parametrize(
    "path", sorted([*EXAMPLES.glob("*.py"), *EXAMPLES.glob("own_task/*.py")]), ids=lambda path: path.stem
)
def test_an_example_is_short(path):
    assert len(path.read_text().splitlines()) <= LONGER.get(path.stem, LONGEST)


@pytest.mark.parametrize("name", ["deploy_original", "numpy_policy", "robot"])
def test_an_example_with_words_says_which_ones_and_a_wrong_word_is_no_traceback(name):
    told = [
        subprocess.run(
            [sys.executable, str(EXAMPLES / f"{name}.py"), *words],
            capture_output=True,
            text=True,
            check=False,
        )
        for words in (["--help"], [], ["no such file", "not a number"])
    ]
    assert [one.returncode for one in told] == [0, 2, 2]
    assert all("usage: " in one.stdout + one.stderr for one in told)
    assert "policy" in told[0].stdout


def test_the_notebook_runs_from_its_first_cell_to_its_last(tmp_path):
    """Without Jupyter, which `make notebook` has; what a cell shows is its own affair."""
    cells = json.loads((EXAMPLES / "tour.ipynb").read_text(encoding="utf-8"))["cells"]
    kept = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in kept)
    script = tmp_path / "tour.py"
    script.write_text("\n".join("".join(cell["source"]) for cell in kept))
    told = run_script(script, tmp_path)
    assert re.search(r"trained with .*return: -\d.*9 agents \(test\): -\d", told, re.DOTALL), told


SLOW = ("new_method", "new_task", "continuous_task")  # what they show, other tests show, too


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else []) for name in EXPECTED]
)
def test_an_example_runs(name, tmp_path):
    told = run_script(EXAMPLES / f"{name}.py", tmp_path)
    assert re.search(EXPECTED[name], told, re.DOTALL), told


def run_script(path: Path, tmp_path: Path) -> str:
    """What it says, in a process and folder of its own."""
    finished = subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout
