"""A method of one's own, named by its import path: trained, studied, scored, reported, watched, exported."""

import shutil
import sys
from pathlib import Path

import pytest

from pc3d.cli import main
from tests.faults.hostile_files import signed
from tests.runs.runs import SETTINGS

EXAMPLE = Path(__file__).parents[2] / "examples" / "new_method.py"
METHOD = "my_methods:peak"
TRAIN = ["--episodes", "8", *SETTINGS[2:]]
RUN = Path("runs", "spread", "my_methods.peak", "seed-0")
STUDY = f"""
about = "My own."
rollouts = 1
[[groups]]
tasks = ["spread"]
methods = ["{METHOD}"]
seeds = [0]
options = ["{" ".join(TRAIN)}"]
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch, nothing_own_stays_known):
    """A user's folder with the method and its study in it."""
    shutil.copy(EXAMPLE, tmp_path / "my_methods.py")
    (tmp_path / "study.toml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)


def test_every_command_takes_a_method_that_is_named(capsys):
    assert main(["train", "spread", METHOD, "--folder", str(RUN), *TRAIN]) == 0
    # A worker of the study scores it, in a process of its own.
    study = ["study", "study.toml", "--folder", "runs", "--recorded", "none", "--workers", "1"]
    assert main([*study, "--method", METHOD]) == 0, capsys.readouterr()
    assert METHOD in (RUN / "scores.csv").read_text()
    assert "Peak" in Path("runs/report/report.md").read_text()
    named = ["--method", METHOD]
    assert main(["evaluate", str(RUN), *named, "--rollouts", "1", "--replace"]) == 0
    assert main(["export", str(RUN), "peak.safetensors", *named]) == 0
    assert main(["watch", str(RUN), *named, "--team-size", "2", "--out", "peak.html"]) == 0
    assert main(["record", "runs", "--out", "results"]) == 0
    assert Path("results/spread/my_methods.peak/seed-0/done.json").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "policy.safetensors", "--out", "scores"],
        ["export", "policy.safetensors", "peak.onnx"],
        ["watch", "policy.safetensors", "--team-size", "2"],
        ["study", "study.toml"],
        ["tune", "trial", "trial", "--episodes", "8", "--seeds", "1", "--rollouts", "1"],
        ["train", "spread", "pc3d", "--preset", "trial/preset.toml"],
    ],
)
def test_no_file_makes_a_methods_code_run(words, capsys):
    Path("trial").mkdir()
    Path("trial", "preset.toml").write_text(f'task = "spread"\nmethod = "{METHOD}"\n')
    signed(experiment__method=METHOD)(Path("policy.safetensors"))
    assert main(words) == 2
    assert f"name it with --method {METHOD}" in capsys.readouterr().err
    assert "my_methods" not in sys.modules
