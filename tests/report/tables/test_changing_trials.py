"""Policies trained with and without teams that change, side by side in teams that change."""

from pc3d.experiment.named_rosters import NAMED
from pc3d.presets.paper import paper
from pc3d.report.runs import find_runs
from pc3d.report.sections import changing_teams
from pc3d.report.tables.changing_trials import changing_trials_tables
from tests.report.made_up import make_run
from tests.report.made_up_changes import AGENTS, STEPS, churned, write_changes

USUAL = paper("lbf", "mappo")
SEEN = range(2, 7)  # LBF's sizes without the test split


def make_trial(root, part, seed, lengths, horizon=STEPS, **changes):
    """A short run with test sizes sealed, whose teams changed five times for so many bad steps."""
    run = make_run(
        root / part,
        "lbf",
        "mappo",
        seed,
        {size: [0.1] * 3 for size in SEEN},
        rosters=USUAL.rosters.sealed(),
        episodes=5000,
        **changes,
    )
    write_changes(run, "churn", churned(lengths, changes=5), horizon=horizon)


def test_each_training_has_a_row_for_each_roster_it_was_scored_by(tmp_path):
    for seed in (0, 1):
        make_trial(tmp_path, "as-it-is", seed, [6, 6])
        make_trial(tmp_path, "churn", seed, [3 + 2 * seed] * 2, roster=NAMED["churn"])
    runs = find_runs([tmp_path])
    (table,) = changing_trials_tables(runs)
    churned_in, usual = [[cell.text for cell in row] for row in table.rows]
    trained_in = "churn leave=2 join=2 clock=episodes; 5,000 episodes"
    assert churned_in[:5] == ["MAPPO", trained_in, "2", "churn", str(AGENTS)]
    assert usual[:5] == ["MAPPO", "constant teams; 5,000 episodes", "2", "churn", str(AGENTS)]
    assert [usual[5], churned_in[5]] == ["1400.00 [1400.00, 1400.00]", "1600.00 [1500.00, 1700.00]"]
    assert [usual[6], churned_in[6]] == ["600.00 [600.00, 600.00]", "400.00 [300.00, 500.00]"]
    assert table in changing_teams(runs).tables


def test_what_was_trained_in_changing_teams_is_called_so_also_where_nothing_else_was(tmp_path):
    make_trial(tmp_path, "churn", 0, [3], roster=NAMED["churn-slow"])
    (table,) = changing_trials_tables(find_runs([tmp_path]))
    assert [row[1].text for row in table.rows] == ["churn leave=1 join=1 clock=episodes; 5,000 episodes"]


def test_only_what_was_played_by_the_same_rules_stands_together(tmp_path):
    for seed in (0, 1):
        make_trial(tmp_path, "as-it-is", seed, [6, 6])
    make_trial(tmp_path, "churn", 0, [3, 3], roster=NAMED["churn"], horizon=STEPS + 5)
    (table,) = changing_trials_tables(find_runs([tmp_path]))
    assert [row[1].text for row in table.rows] == ["constant teams; 5,000 episodes"]


def test_trials_that_were_never_scored_in_changing_teams_make_no_table(tmp_path):
    make_run(
        tmp_path,
        "lbf",
        "mappo",
        0,
        {size: [0.1] for size in SEEN},
        rosters=USUAL.rosters.sealed(),
        episodes=5000,
    )
    assert changing_trials_tables(find_runs([tmp_path])) == [None]
