"""What stands around the code: workflow, hooks and container do what `make` does, and nothing else."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def recipe(target: str) -> list[str]:
    """The command lines of a target."""
    (lines,) = re.findall(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    return [line.strip() for line in lines.splitlines()]


def test_the_workflow_makes_the_tests_with_the_python_of_the_makefile():
    (job,) = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())["jobs"].values()
    versions = [step["with"]["python-version"] for step in job["steps"] if "with" in step]
    assert versions == ["3.11"]
    assert "PYTHON ?= python3.11" in MAKEFILE
    assert [step["run"] for step in job["steps"] if "run" in step] == ["make test"]


def test_the_hooks_are_what_make_lint_runs_and_fetch_nothing():
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert repository["repo"] == "local"
    assert {hook["language"] for hook in repository["hooks"]} == {"system"}
    programs = [hook["entry"].removesuffix(" --force-exclude") for hook in repository["hooks"]]
    linted = [line.replace("$(BIN)", ".venv/bin").removesuffix(" .") for line in recipe("lint")]
    assert programs == [line.removesuffix(" --check") for line in linted]


def test_the_container_sets_up_and_runs_the_demo():
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    words = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    assert words[0] == ["FROM", "python:3.11-slim"]
    assert ["RUN", "make setup"] in words
    assert words[-1] == ["CMD", '["make", "demo"]']


@pytest.mark.parametrize("target", ["demo", "test", "notebook"])
def test_what_they_and_the_pages_make_is_in_the_makefile(target):
    assert recipe(target)
    assert f'"make {target} ' in MAKEFILE  # in its help
