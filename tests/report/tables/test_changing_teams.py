"""Teams that change in the report: rows, sentences and figures of evaluations whose answers are known."""

import pytest

from pc3d.report.changes import changes_of
from pc3d.report.changing_story import changing_story
from pc3d.report.figures.churn import churn_figure
from pc3d.report.figures.context_lag import context_lag_figure
from pc3d.report.figures.shocks import response_figure, survival_figure
from pc3d.report.notes import notes
from pc3d.report.record import record_run
from pc3d.report.runs import find_runs
from pc3d.report.sections import changing_teams
from pc3d.report.tables.changing_teams import changing_table
from pc3d.report.write import write_report
from pc3d.system.errors import BadInput, DamagedFile
from tests.report.made_up import add_metrics, make_run
from tests.report.made_up_changes import AGENTS, churned, shocked, write_changes

LASTING = 99  # longer than anybody looks


def run_of(root, method, seed=0):
    return make_run(root, "spread", method, seed, {size: [-float(size)] for size in range(1, 11)})


def found(root):
    return changes_of(find_runs([root]), "spread")


def rows(root):
    table = changing_table(found(root), "spread")
    return [[(cell.text, cell.note) if cell.note else cell.text for cell in row] for row in table.rows]


def test_a_row_has_return_regret_and_recovery_beside_what_never_changed(tmp_path):
    """Of ten rollouts, half are back after 4 steps; twelve steps were left, and each could bring 1."""
    write_changes(run_of(tmp_path, "pc3d"), "lose-half", shocked([4] * 5 + [0] * 5, waits=([2, 4], [1, 1])))
    ((policy, roster, agents, returned, regret, share, median, cost, joiners, incumbents),) = rows(tmp_path)
    assert (policy, roster, agents, cost) == ("PC3D-MAPPO", "lose-half", str(AGENTS), "–")
    assert returned[0].startswith("18.00 [")
    assert returned[1] == "unchanged 40.00"
    assert regret.startswith("0.17 [")  # two steps of twelve
    assert share == ("100 %", "never changed 100 %")
    assert median == ("0 [0, 4]", "never changed 0")
    assert (joiners, incumbents) == ("2 (100 %)", "1 (100 %)")


def test_a_median_that_was_not_seen_is_more_than_was_looked_at(tmp_path):
    write_changes(run_of(tmp_path, "pc3d"), "lose-half", shocked([LASTING] * 3 + [0]))
    ((*_, share, median, _, joiners, _),) = rows(tmp_path)
    assert share[0] == "25 %"
    assert median[0].startswith("> 10")  # windows of two steps, two of which must hold
    assert joiners == "–"


def test_churn_has_a_cost_and_no_recovery(tmp_path):
    write_changes(run_of(tmp_path, "pc3d"), "churn", churned([3, 3], changes=5))
    ((_, _, _, returned, regret, share, median, cost, *_),) = rows(tmp_path)
    assert (returned[0], cost) == ("17.00 [17.00, 17.00]", "3.00 [3.00, 3.00]")
    assert (regret, share, median) == ("–", "–", "–")


def test_several_seeds_count_once_each(tmp_path):
    for seed, length in ((0, 0), (1, 6)):
        write_changes(run_of(tmp_path, "pc3d", seed), "lose-half", shocked([length] * 3))
    ((_, _, _, returned, regret, *_),) = rows(tmp_path)
    assert (returned[0], regret) == ("17.00 [14.00, 20.00]", "0.25 [0.00, 0.50]")


def test_differences_are_of_pairs_and_say_of_what(tmp_path):
    """Rollouts differ much from each other, and theirs always by two steps from ours."""
    write_changes(run_of(tmp_path, "pc3d"), "lose-half", shocked([0, 3, 6, 8]))
    write_changes(run_of(tmp_path, "mappo"), "lose-half", shocked([2, 5, 8, 10]))
    (sentence,) = changing_story(found(tmp_path), "spread")
    assert (
        "After one change on Spread (lose-half; teams of 4), PC3D-MAPPO recovers 2.0 steps sooner than"
        in sentence
    )
    assert "MAPPO (95 % interval 2.0 to 2.0), and its regret is 0.17 smaller" in sentence
    assert "4 keys of one seed each" in sentence
    for seed in (1, 2):
        write_changes(run_of(tmp_path, "pc3d", seed), "lose-half", shocked([3 + seed] * 4))
        write_changes(run_of(tmp_path, "mappo", seed), "lose-half", shocked([3] * 4))
    (sentence,) = changing_story(found(tmp_path), "spread")
    assert "0.3 steps later" in sentence  # −2, 1 and 2
    assert "it may be chance" in sentence
    assert "Pairs are three seeds;" in sentence


def test_figures_have_a_panel_for_each_shock_and_a_line_for_each_method(tmp_path):
    context = {who: {"alignment": [0.1, 0.2], "gate": [0.5, 0.5]} for who in ("stayers", "newcomers")}
    for method in ("mappo", "pc3d"):
        run = run_of(tmp_path, method)
        beside = {"context": context} if method == "pc3d" else {}
        for roster in ("lose-half", "replace-half"):
            write_changes(run, roster, {**shocked([2, 4]), **beside})
        for rate, roster in ((2, "churn"), (5, "churn-fast")):
            write_changes(run, roster, churned([rate, rate], changes=rate))
    changes = found(tmp_path)
    response = response_figure(changes, "spread").drawing.axes
    assert [axes.get_title(loc="left") for axes in response] == ["lose-half", "replace-half"]
    steps, costs = response[0].get_lines()[0].get_data()
    assert costs[list(steps).index(0)] == pytest.approx(-2)  # 0 instead of the unchanged team's 2
    survival = survival_figure(changes, "spread").drawing.axes[0].get_lines()[0]
    assert list(survival.get_xydata()[-2]) == [4, 0]
    lines = churn_figure(changes, "spread").drawing.axes[0].get_lines()
    assert [list(line.get_xdata()) for line in lines][:2] == [[0, 2, 5]] * 2
    assert list(lines[1].get_ydata()) == [40, 20, 20]  # the mixture
    gates = context_lag_figure(changes, "spread").drawing.axes
    assert len(gates) == 2 * 2
    assert len(gates[0].get_lines()) == 2  # stayers and newcomers, of the one method with contexts


def test_a_report_has_the_section_where_such_evaluations_are_and_else_says_nothing(tmp_path):
    run = run_of(tmp_path, "pc3d")
    assert changing_teams(find_runs([tmp_path])).empty
    write_changes(run, "lose-half", shocked([4, 2]))
    write_report(find_runs([tmp_path]), tmp_path / "report", lambda _: None)
    assert "## Teams that change" in (tmp_path / "report" / "report.md").read_text()
    assert (tmp_path / "report" / "tables" / "changing-spread.md").exists()
    assert (tmp_path / "report" / "figures" / "changing-recovery-spread.svg").exists()


def test_what_was_played_by_other_rules_than_most_is_left_out_and_named(tmp_path):
    for seed, horizon in enumerate((25, 50, 50)):
        write_changes(run_of(tmp_path, "pc3d", seed), "lose-half", shocked([4]), horizon=horizon)
    (change,) = found(tmp_path)
    assert [*change.seeds] == [1, 2]
    told = [note for note in notes(find_runs([tmp_path])) if "other rules" in note]
    assert len(told) == 1
    assert "seed-0" in told[0]
    assert "horizon 25 instead of 50" in told[0]
    section = changing_teams(find_runs([tmp_path]))
    assert told[0] in section.text  # where a reader misses it
    assert section.tables


def test_a_file_of_another_run_is_refused_and_so_is_one_that_is_no_evaluation(tmp_path):
    other = run_of(tmp_path, "mappo")
    write_changes(other, "lose-half", shocked([4]), seed=5)
    with pytest.raises(BadInput, match="of another run"):
        found(tmp_path)
    for broken in (
        {"returns": {}},
        {**shocked([4]), "response": [[1.0]]},
        {**shocked([4]), "changes": "many"},
    ):
        write_changes(other, "lose-half", broken)
        with pytest.raises(DamagedFile, match="not what pc3d evaluate --roster writes"):
            found(tmp_path)


def test_an_evaluation_of_another_policy_is_told_of(tmp_path):
    write_changes(run_of(tmp_path, "pc3d"), "lose-half", shocked([4]), policy_sha256="0" * 64)
    assert any("roster-lose-half.json is of another final" in note for note in notes(find_runs([tmp_path])))


def test_sizes_that_not_all_methods_were_played_at_are_left_out(tmp_path):
    write_changes(run_of(tmp_path, "pc3d"), "lose-half", shocked([4]))
    write_changes(run_of(tmp_path, "mappo"), "lose-half", shocked([4]), size=6)
    assert found(tmp_path) == []
    told = [note for note in notes(find_runs([tmp_path])) if "lose-half" in note and "sizes" in note]
    assert len(told) == 1
    assert "team sizes 4, 6 are not in the tables" in told[0]
    assert told[0] in changing_teams(find_runs([tmp_path])).text


def test_records_keep_them(tmp_path, random):
    run = run_of(tmp_path, "pc3d")
    add_metrics(run, random, level=-10.0, rise=2.0)
    write_changes(run, "lose-half", shocked([4]))
    record_run(run, tmp_path / "record")
    kept, written = (
        (folder / "roster-lose-half.json").read_bytes() for folder in (tmp_path / "record", run.path)
    )
    assert kept == written
