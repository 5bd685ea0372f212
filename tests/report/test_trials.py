"""Settings that were tried, in a table of their own and never at test sizes."""

from dataclasses import replace

import pytest

from pc3d.cli import main
from pc3d.errors import BadInput
from pc3d.experiments import paper
from pc3d.report.notes import notes
from pc3d.report.runs import find_runs
from pc3d.report.trials import trial_tables
from pc3d.report.write import write_report
from tests.report.made_up import make_run

SEEN = range(2, 7)  # LBF's sizes without the test split
USUAL = paper("lbf", "mappo")


def make_trial(root, part, seed, level, **changes):
    """A short run with test sizes sealed that scored this level at every size."""
    return make_run(
        root / part,
        "lbf",
        "mappo",
        seed,
        {size: [level] * 3 for size in SEEN},
        rosters=USUAL.rosters.sealed(),
        **{"episodes": 5000, **changes},
    )


@pytest.fixture
def folder(tmp_path):
    """Two seeds as it is and with tanh, one without normalised values, and one of another length."""
    tanh = replace(USUAL.recipe, activation="tanh")
    for seed in (0, 1):
        make_trial(tmp_path, "as-it-is", seed, 0.10 + 0.02 * seed)
        make_trial(tmp_path, "tanh", seed, 0.20 + 0.02 * seed, recipe=tanh)
    make_trial(tmp_path, "values", 0, 0.05, recipe=replace(USUAL.recipe, normalise_values=False))
    make_trial(tmp_path, "long", 0, 0.3, recipe=tanh, episodes=12_000)
    return tmp_path


def test_each_row_names_what_was_changed_and_its_difference_from_the_same_length(folder):
    (table,) = trial_tables(find_runs([folder]))
    texts = [[cell.text for cell in row] for row in table.rows]
    assert texts == [
        ["as it is", "5,000", "11.00 ± 1.41 (n=2)", "11.00 ± 1.41 (n=2)"],
        ["recipe.activation: relu → tanh", "5,000", "21.00 ± 1.41 (n=2)", "21.00 ± 1.41 (n=2)"],
        ["recipe.normalise-values: True → False", "5,000", "5.00 (n=1)", "5.00 (n=1)"],
        ["recipe.activation: relu → tanh", "12,000", "30.00 (n=1)", "30.00 (n=1)"],
    ]
    assert [row[2].note for row in table.rows] == ["", "+10.00", "-6.00", ""]
    assert [row[3].best for row in table.rows] == [False, True, False, False]


def test_trials_stand_apart_from_the_runs_that_are_judged(folder):
    make_run(folder / "final", "lbf", "mappo", 0, {size: [0.5] for size in range(2, 9)})
    runs = find_runs([folder])
    assert [run.name for run in runs.all] == ["lbf mappo seed 0"]
    assert len(runs.trials) == 6
    write_report(runs, folder / "report", lambda _: None)
    assert (folder / "report" / "tables" / "trials-mappo-lbf.md").exists()
    assert "50.00 (n=1)" in (folder / "report" / "tables" / "main.md").read_text()


def test_trials_alone_make_a_report_too(folder):
    write_report(find_runs([folder]), folder / "report", lambda _: None)
    assert "tanh" in (folder / "report" / "report.md").read_text()


def test_an_unfinished_trial_is_named_and_counts_nowhere(folder):
    make_trial(folder, "cut", 0, 0.9, done=False, recipe=replace(USUAL.recipe, clip_values=True))
    runs = find_runs([folder])
    assert any(note.startswith("lbf mappo seed 0 tried in ") for note in notes(runs))
    (table,) = trial_tables(runs)
    assert len(table.rows) == 4


def test_the_same_trial_twice_is_refused(folder):
    make_trial(folder, "again", 0, 0.9)
    with pytest.raises(BadInput, match=r"two runs are lbf mappo seed 0 tried in .*again"):
        find_runs([folder])


def test_trials_are_recorded_where_their_study_would_look_for_them(tmp_path):
    run = make_trial(tmp_path, "x", 0, 0.1)
    study = tmp_path / "study" / "lbf" / "mappo" / "as-it-is" / "seed-0"
    study.parent.mkdir(parents=True)
    run.path.rename(study)
    (study / "metrics.jsonl").write_text("")
    assert main(["record", str(tmp_path / "study"), "--out", str(tmp_path / "results")]) == 0
    kept = tmp_path / "results" / "lbf" / "mappo" / "as-it-is" / "seed-0"
    assert (kept / "scores.csv").exists()
    assert not (kept / "final.safetensors").exists()  # a policy that may not be judged is of no use
