"""Policies scored on the original packages, beside their scores on the ports."""

import pytest

from pc3d.evaluation.evaluation_file import write_evaluation
from pc3d.report.runs import find_runs
from pc3d.report.tables.originals import originals_table
from pc3d.report.write import write_report
from tests.report.made_up import make_run, write_scores

SIZES = range(2, 9)


@pytest.fixture
def run(tmp_path):
    return make_run(tmp_path, "lbf", "pc3d", 0, {size: [0.1, 0.2, 0.3] for size in SIZES})


def score_on_originals(run, returns):
    write_scores(run.path / "scores-original.csv", [(run.experiment(), returns)])


def test_pairs_of_rollouts_are_compared(run, tmp_path):
    # Differences of 0.01, 0.02 and 0.03 at two agents, of rounding at three, 0.1 each at seven.
    score_on_originals(
        run, {2: [0.11, 0.22, 0.33], 3: [0.1 - 2e-9, 0.2 - 2e-9, 0.3 - 2e-9], 7: [0.2, 0.3, 0.4]}
    )
    table = originals_table(find_runs([tmp_path]), "lbf")
    assert table is not None
    assert [[cell.text for cell in row[1:]] for row in table.rows] == [
        # 4.303 is Student's t for two degrees of freedom: 2 ± 4.303 · 1 / √3
        ["2", "train", "20.00 (n=3)", "22.00 (n=3)", "+2.00 [-0.48, +4.48]", "3"],
        ["3", "validation", "20.00 (n=3)", "20.00 (n=3)", "+0.00 [+0.00, +0.00]", "2e-07"],
        ["7", "test", "20.00 (n=3)", "30.00 (n=3)", "+10.00 [+10.00, +10.00]", "1e+01"],
    ]
    assert [row[5].best for row in table.rows] == [False, False, True]


def test_other_numbers_of_rollouts_make_no_pairs(run, tmp_path):
    score_on_originals(run, {2: [0.1, 0.2]})
    table = originals_table(find_runs([tmp_path]), "lbf")
    assert table is not None
    assert [cell.text for cell in table.rows[0][3:]] == ["20.00 (n=3)", "15.00 (n=2)", "–", "–"]


@pytest.mark.parametrize("rule", ["policy_sha256", "starts_seed", "actions"])
def test_scores_by_other_rules_make_no_pairs(run, tmp_path, rule):
    rules = {"format": 1, "policy_sha256": "a", "starts_seed": 1, "actions": "sampled"}
    returns = {2: [0.1, 0.2, 0.3]}
    for backend, changed in (("jax", {}), ("original", {rule: "other"})):
        name = "scores.csv" if backend == "jax" else "scores-original.csv"
        write_scores(run.path / name, [(run.experiment(), returns)])
        content = (run.path / name).read_bytes()
        write_evaluation(run.path, {**rules, "backend": backend, **changed}, content)
    table = originals_table(find_runs([tmp_path]), "lbf")
    assert table is not None
    assert [cell.text for cell in table.rows[0][5:]] == ["–", "–"]


def test_without_such_scores_there_is_no_table(run, tmp_path):
    runs = find_runs([tmp_path])
    assert originals_table(runs, "lbf") is None
    write_report(runs, tmp_path / "report", lambda _: None)
    assert "riginal packages" not in (tmp_path / "report" / "report.md").read_text()
