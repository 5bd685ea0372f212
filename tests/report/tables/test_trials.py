"""Settings that were tried, in a table of their own and never at test sizes."""

from dataclasses import replace

import pytest

from pc3d.cli import main
from pc3d.cli.study import with_records
from pc3d.jobs.study import Group, Study
from pc3d.presets.paper import paper
from pc3d.report.notes import notes
from pc3d.report.runs import find_runs
from pc3d.report.tables.trials import trial_tables
from pc3d.report.write import write_report
from pc3d.system.errors import BadInput
from pc3d.tasks.spread.rules import SpreadRules
from tests.report.made_up import add_context, make_run, write_references

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


def test_chance_stands_below_the_trials_at_their_sizes(folder):
    chance = {size: [0.01 * size] * 2 for size in range(2, 9)}
    write_references(folder / "references.csv", "lbf", {"random": chance})
    (table,) = trial_tables(find_runs([folder]))
    assert [cell.text for cell in table.rows[-1]] == ["Random (reference)", "–", "4.00", "4.00"]  # × 100
    assert len(table.rows) == 5


def test_what_all_trials_share_is_said_once(tmp_path):
    steps = replace(USUAL.recipe, batch_unit="team_steps")
    make_trial(tmp_path, "a", 0, 0.1, recipe=steps)
    make_trial(tmp_path, "b", 0, 0.2, recipe=replace(steps, activation="tanh"))
    (table,) = trial_tables(find_runs([tmp_path]))
    assert [row[0].text for row in table.rows] == ["as it is", "recipe.activation: relu → tanh"]
    assert table.caption.endswith("Unless a row says otherwise: recipe.batch-unit: sequences → team_steps.")


def test_trials_around_settings_that_are_no_longer_usual_are_compared_with_those(tmp_path):
    older = replace(USUAL.recipe, batch_unit="team_steps", activation="tanh")
    tried = {"steps": {"batch_unit": "sequences"}, "values": {"clip_values": True}}
    make_trial(tmp_path, "older", 0, 0.1, recipe=older)
    for part, changes in tried.items():
        make_trial(tmp_path, part, 0, 0.2, recipe=replace(older, **changes))
    (table,) = trial_tables(find_runs([tmp_path]))
    assert [(row[0].text, row[2].note) for row in table.rows] == [
        ("as it is", ""),
        ("recipe.batch-unit: team_steps → sequences", "+10.00"),
        ("recipe.clip-values: False → True", "+10.00"),
    ]
    assert "recipe.activation: relu → tanh" in table.caption


def test_trials_with_contexts_say_how_they_were_recovered(tmp_path, random):
    usual = paper("lbf", "pc3d")
    for part, recipe in (("as-it-is", usual.recipe), ("sum", replace(usual.recipe, huber_reduction="sum"))):
        scores = {size: [0.1] for size in SEEN}
        changes = {"rosters": usual.rosters.sealed(), "episodes": 5000, "recipe": recipe}
        run = make_run(tmp_path / part, "lbf", "pc3d", 0, scores, **changes)
        add_context(run, random)
    (run.path / "context.json").unlink()
    (table,) = trial_tables(find_runs([tmp_path]))
    assert table.columns[4:] == (
        "cosine to the teacher",
        "cosine to teammates' contexts",
        "cosine of the best constant",
        "variance explained",
        "variance between teammates",
        "gate",
    )
    usual_row, changed_row = table.rows
    # Over the sizes 2 to 6: 0.5 less and 0.4 more a hundredth of the size, and a tenth of it.
    assert [cell.text for cell in usual_row[5:8]] == ["0.46", "0.44", "0.40"]
    assert [cell.text for cell in changed_row[4:]] == ["–"] * 6


def test_trials_whose_returns_mean_different_things_are_refused(folder):
    make_run(
        folder / "mean",
        "spread",
        "mappo",
        0,
        None,
        rosters=paper("spread", "mappo").rosters.sealed(),
        rules=SpreadRules("mean"),
    )
    make_run(folder / "pairs", "spread", "mappo", 0, None, rosters=paper("spread", "mappo").rosters.sealed())
    with pytest.raises(BadInput, match="define the return differently"):
        find_runs([folder])


def test_trials_stand_apart_from_the_runs_that_are_judged(folder):
    make_run(folder / "final", "lbf", "mappo", 0, {size: [0.5] for size in range(2, 9)})
    runs = find_runs([folder])
    assert [run.name for run in runs.all] == ["lbf mappo seed 0"]
    assert len(runs.trials) == 6
    write_report(runs, folder / "report", lambda _: None)
    assert (folder / "report" / "tables" / "trials-mappo-lbf.md").exists()
    assert "50.00 (n=1)" in (folder / "report" / "tables" / "main-lbf.md").read_text()


def test_trials_alone_make_a_report_too(folder):
    write_report(find_runs([folder]), folder / "report", lambda _: None)
    report = (folder / "report" / "report.md").read_text()
    assert "tanh" in report
    assert "These runs tried settings out" in report.split("\n\n")[2]


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


@pytest.mark.parametrize("part", ["as-it-is", "mappo"])  # of variations, and of a group without them
def test_trials_are_recorded_where_their_study_would_look_for_them(tmp_path, part):
    variations = ("",) if part == "as-it-is" else ()
    group = Group(("lbf",), ("mappo",), (0,), episodes=5000, sealed=True, variations=variations)
    study = Study("one", (group,))
    (job,) = study.jobs(tmp_path / "study")
    run = make_trial(tmp_path, "x", 0, 0.1)
    job.folder.parent.mkdir(parents=True)
    run.path.rename(job.folder)
    (job.folder / "metrics.jsonl").write_text("")
    results, elsewhere = tmp_path / "results", tmp_path / "elsewhere"
    assert main(["record", str(tmp_path / "study"), "--out", str(results)]) == 0
    (recorded,) = with_records(study.jobs(elsewhere), elsewhere, results)
    assert recorded.folder.is_relative_to(results)
    # A policy that may not be judged is of no use.
    assert not (recorded.folder / "final.safetensors").exists()
