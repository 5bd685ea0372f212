"""Large teams in the report: scores between random and scripted, and how much of them is retained."""

import pytest

from pc3d.report.record import COPIED
from pc3d.report.runs import find_runs
from pc3d.report.tables.large_teams import large_team_figure, large_team_table
from pc3d.report.write import write_report
from tests.report.made_up import make_run, write_references, write_scores

SIZES = range(2, 9)


@pytest.fixture
def run(tmp_path):
    """Halfway between random and scripted at the largest training size, a quarter of the way at 16."""
    write_references(
        tmp_path / "references-scaled.csv",
        "lbf",
        {"random": {6: [0.0], 16: [0.0]}, "scripted": {6: [0.2], 16: [0.08]}},
    )
    return make_run(tmp_path, "lbf", "pc3d", 0, {size: [0.1] for size in SIZES})


def score(run, world, returns):
    write_scores(run.path / f"scores-{world}.csv", [(run.experiment(), returns)])


def cells(table):
    return [[cell.text for cell in row] for row in table.rows]


def test_scores_are_between_random_and_scripted_and_retention_is_of_the_largest_training_team(run, tmp_path):
    score(run, "scaled", {6: [0.1, 0.1], 16: [0.02, 0.02]})
    table = large_team_table(find_runs([tmp_path]), "lbf")
    numbers = ("0.50 [0.50, 0.50]", "1.00 [1.00, 1.00]"), ("0.25 [0.25, 0.25]", "0.50 [0.50, 0.50]")
    assert cells(table) == [
        ["PC3D-MAPPO", "scaled", "6", "10.00", "0.00", "20.00", *numbers[0], "–"],
        ["PC3D-MAPPO", "scaled", "16", "2.00", "0.00", "8.00", *numbers[1], "–"],
    ]


def test_seeds_count_once_each_where_there_are_several(run, tmp_path):
    other = make_run(tmp_path, "lbf", "pc3d", 1, {size: [0.1] for size in SIZES})
    score(run, "scaled", {6: [0.1, 0.1], 16: [0.02, 0.02]})
    score(other, "scaled", {6: [0.1, 0.1], 16: [0.06, 0.06]})
    assert cells(large_team_table(find_runs([tmp_path]), "lbf"))[1][6] == "0.50 [0.25, 0.75]"


def test_a_world_without_references_or_without_the_training_size_is_left_out(run, tmp_path):
    score(run, "crowded", {6: [0.1], 16: [0.02]})
    score(run, "scaled", {16: [0.02]})
    runs = find_runs([tmp_path])
    assert large_team_table(runs, "lbf") is None
    assert large_team_figure(runs, "lbf") is None


def test_large_teams_change_no_other_table(run, tmp_path):
    before = find_runs([tmp_path])
    score(run, "scaled", {6: [0.9, 0.9], 16: [0.02, 0.02]})
    after = find_runs([tmp_path])
    assert before.all[0].scores.returns == after.all[0].scores.returns
    assert before.references == after.references == {}
    write_report(after, tmp_path / "report", lambda _: None)
    assert "Large teams" in (tmp_path / "report" / "report.md").read_text()
    assert (tmp_path / "report" / "figures" / "large-lbf.svg").exists()


def test_records_keep_them():
    assert {"scores-scaled.csv", "evaluation-scaled.json", "scores-crowded.csv"} <= set(COPIED)
