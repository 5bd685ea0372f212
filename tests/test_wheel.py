"""The package without its checkout: what the wheel holds, and that it runs alone."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TINY = ["--episodes", "8", "--actor.widths", "8", "--actor.rnn-dim", "8", "--tensorboard", "False"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    words = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(words, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_all_that_is_not_code_and_nothing_of_the_checkout(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    here = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "pc3d").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert here <= set(names)
    assert any(name.endswith("studies/quick.toml") for name in names)
    assert all(name.startswith(("pc3d/", "pc3d-")) for name in names)
    shipped = {name for name in names if name.startswith("pc3d/policies/")}  # few: a checkout may have more
    assert shipped == {
        f"pc3d/policies/{task}/{method}/seed-0/final.safetensors"
        for task in ("spread", "lbf", "rware")
        for method in ("pc3d", "mappo")
    }


def test_the_unpacked_wheel_runs_anywhere(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path / "package")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "package")}
    script = (
        "import pc3d, sys; from pathlib import Path; from pc3d.cli import main;"
        f"assert Path(pc3d.__file__).is_relative_to({str(tmp_path)!r});"
        f"sys.exit(main(['train', 'spread', 'pc3d', '--folder', 'run', *{TINY!r}]))"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "run" / "final.safetensors").exists()


@pytest.mark.slow
def test_the_wheel_installs_into_an_empty_environment_and_trains(wheel, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    programs = tmp_path / "venv" / "bin"
    # The lock only holds back versions here: what is installed is what the wheel itself asks for.
    words = ["-m", "pip", "install", "--quiet", "--constraint", str(ROOT / "requirements.lock"), str(wheel)]
    subprocess.run([programs / "python", *words], check=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for command in (
        ["train", "spread", "pc3d", "--folder", "run", *TINY],
        ["evaluate", "run", "--rollouts", "2"],
        ["watch", "run", "--team-size", "2", "--out", "team.html"],
    ):
        subprocess.run([programs / "pc3d", *command], cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "run" / "scores.csv").exists()
    assert (tmp_path / "team.html").exists()
