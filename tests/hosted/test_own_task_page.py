"""The tutorial keeps its word: its function is the example's, it is short, and its commands run."""

import re
import shlex
from pathlib import Path

import pytest

from pc3d.cli import main
from pc3d.roster_file import read_rosters
from tests.test_docs import blocks, commands

ROOT = Path(__file__).parents[2]
PAGE, EXAMPLE = ROOT / "docs" / "own_task.md", ROOT / "examples" / "own_task"
SMALL = {
    "check": ["--team-sizes", "2,8"],
    "train": [
        *("--episodes", "2", "--ppo.update-every-episodes", "2", "--ppo.epochs", "1", "--actor.widths", "8"),
        *("--actor.rnn-dim", "6", "--critic.widths", "8", "--critic.set-encoder-widths", "8"),
    ],
    "evaluate": ["--rollouts", "1", "--context-rollouts", "1", "--team-sizes", "2,8"],
}


def test_the_function_on_the_page_is_the_examples_and_short():
    (shown,) = blocks(PAGE, "python")
    assert shown == (EXAMPLE / "pursuit.py").read_text()
    assert len(shown.splitlines()) < 30


@pytest.mark.slow
def test_every_command_of_the_page_runs_in_a_folder_with_nothing_but_the_function(
    tmp_path, monkeypatch, capsys
):
    pytest.importorskip("pygame")
    monkeypatch.chdir(tmp_path)
    for name in ("pursuit.py", "rosters.toml"):
        (tmp_path / name).write_bytes((EXAMPLE / name).read_bytes())
    lines = commands(PAGE)
    assert [line.split()[0] for line in lines] == [
        "check",
        "train",
        "evaluate",
        "watch",
        "report",
        "evaluate",
    ]
    for line in lines:
        words = shlex.split(line)
        assert main([*words, *SMALL.get(words[0], [])]) == 0, capsys.readouterr().err
    assert (tmp_path / "eight.gif").exists()
    assert (tmp_path / "report" / "index.html").exists()


def test_the_roster_file_on_the_page_is_read(tmp_path):
    (shown,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "rosters.toml").write_text(shown)
    rosters, curriculum = read_rosters(tmp_path / "rosters.toml")
    assert rosters.test == (7, 8)
    assert [stage.team_sizes for stage in curriculum.stages] == [(2, 4), (2, 4, 6)]


def test_the_usual_curriculum_adds_one_size_after_the_other():
    rosters, curriculum = read_rosters(EXAMPLE / "rosters.toml")
    assert [stage.team_sizes for stage in curriculum.stages] == [(2,), (2, 4), (2, 4, 6)]
    assert [stage.fraction for stage in curriculum.stages] == [0.25, 0.25, 0.5]
    assert curriculum.stages[2].probabilities == pytest.approx([1 / 3] * 3)
    assert rosters.validation == (3, 5)
