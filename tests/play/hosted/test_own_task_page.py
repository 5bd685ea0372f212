"""The tutorial keeps its word: its function is the example's, it is short, and its file is read."""

import re
from pathlib import Path

import pytest

from pc3d.experiment.roster_file import read_rosters
from tests.docs.pages import blocks

ROOT = Path(__file__).parents[3]
PAGE, EXAMPLE = ROOT / "docs" / "own_task.md", ROOT / "examples" / "own_task"


def test_the_function_on_the_page_is_the_examples_and_short():
    shown, *_ = blocks(PAGE, "python")
    assert shown == (EXAMPLE / "pursuit.py").read_text()
    assert len(shown.splitlines()) < 30


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
