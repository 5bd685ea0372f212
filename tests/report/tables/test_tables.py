"""Tables from small made-up scores whose answers are worked out by hand."""

import json

import pytest

from pc3d.report.marl_eval import marl_eval
from pc3d.report.paper_numbers import ABLATION, HYPER, MAIN
from pc3d.report.runs import find_runs
from pc3d.report.tables.comparisons import claims_table, difference_table, size_difference_table
from pc3d.report.tables.context import gate_table, recovery_table, teacher_table
from pc3d.report.tables.results import ABLATIONS, HYPERNETWORK, MAIN_RESULTS, overview_table, result_table
from pc3d.report.tables.statistics import statistics_table
from pc3d.report.tables.table import Cell, Table, latex, markdown
from pc3d.report.tables.training import clock_table
from pc3d.tasks.spread.rules import SpreadRules
from tests.report.made_up import add_context, add_metrics, make_run, write_references

SPREAD_SIZES = range(1, 11)
LBF_SIZES = range(2, 9)


def spread_returns(shift: float) -> dict[int, list[float]]:
    """Two rollouts a size whose mean is minus the size, minus 1, plus the shift."""
    return {size: [-size + shift, -size - 2.0 + shift] for size in SPREAD_SIZES}


def cells(table: Table) -> dict[str, list[Cell]]:
    return {row[0].text: list(row[1:]) for row in table.rows}


def texts(table: Table) -> dict[str, list[str]]:
    return {heading: [cell.text for cell in row] for heading, row in cells(table).items()}


def test_the_main_table_is_the_mean_over_rollouts_then_sizes_then_seeds(tmp_path):
    make_run(tmp_path, "spread", "pc3d", 0, spread_returns(0.0))
    make_run(tmp_path, "spread", "pc3d", 1, spread_returns(2.0))
    row = texts(result_table(MAIN_RESULTS, find_runs([tmp_path]), "spread"))["PC3D-MAPPO"]
    # Sizes 1, 2, 4, 6, 8: mean 4.2, so -5.2 and -3.2; sizes 3, 5, 7: 5; sizes 9, 10: 9.5.
    assert row == ["-4.20 ± 1.41 (n=2)", "-5.00 ± 1.41 (n=2)", "-9.50 ± 1.41 (n=2)"]


def test_a_single_seed_says_so_and_has_no_deviation(tmp_path):
    make_run(tmp_path, "spread", "pc3d", 0, spread_returns(0.0))
    row = texts(result_table(MAIN_RESULTS, find_runs([tmp_path]), "spread"))["PC3D-MAPPO"]
    assert row == ["-5.20 (n=1)", "-6.00 (n=1)", "-10.50 (n=1)"]


def test_the_papers_number_stands_beside_ours_and_beside_nothing_else(tmp_path):
    make_run(tmp_path, "spread", "pc3d", 0, spread_returns(0.0))
    table = cells(result_table(MAIN_RESULTS, find_runs([tmp_path]), "spread"))
    assert table["PC3D-MAPPO"][0].note == "paper -39.90 ± 0.7"
    assert "IPPO" not in table  # no such run was given


def test_the_papers_numbers_stand_beside_no_runs_of_another_length(tmp_path):
    for seed, noise in ((0, 0.0), (1, 0.1)):
        for method in ("mappo", "pc3d"):
            make_run(tmp_path, "spread", method, seed, spread_returns(noise), episodes=2000)
    runs = find_runs([tmp_path])
    tables = [make(runs, "spread") for make in (difference_table, claims_table)]
    for table in (result_table(MAIN_RESULTS, runs, "spread"), *tables):
        assert {cell.note for row in table.rows for cell in row} == {""}
        assert "paper" not in table.caption


def test_the_best_of_ours_is_bold_where_two_methods_have_seeds_enough(tmp_path):
    def bold() -> dict[str, list[bool]]:
        table = cells(result_table(MAIN_RESULTS, find_runs([tmp_path]), "spread"))
        return {method: [cell.best for cell in row] for method, row in table.items()}

    make_run(tmp_path, "spread", "pc3d", 0, spread_returns(1.0))
    make_run(tmp_path, "spread", "pc3d", 1, spread_returns(1.0))
    make_run(tmp_path, "spread", "mappo", 0, spread_returns(0.0))
    assert bold() == {"MAPPO": [False] * 3, "PC3D-MAPPO": [False] * 3}
    make_run(tmp_path, "spread", "mappo", 1, spread_returns(0.0))
    assert bold() == {"MAPPO": [False] * 3, "PC3D-MAPPO": [True] * 3}
    make_run(tmp_path, "spread", "pic", 0, spread_returns(2.0))
    assert not any(map(any, bold().values()))  # what is highest is of one seed


def test_the_overview_has_all_tasks_at_test_sizes_and_needs_more_than_one(tmp_path):
    make_run(tmp_path, "spread", "pc3d", 0, spread_returns(0.0))
    assert overview_table(find_runs([tmp_path])) is None
    make_run(tmp_path, "lbf", "mappo", 0, {size: [0.25] for size in LBF_SIZES})
    table = overview_table(find_runs([tmp_path]))
    assert table.columns == ("Method", "Spread, 9 and 10 agents", "LBF (×100), 7 and 8 agents")
    assert texts(table) == {"MAPPO": ["–", "25.00 (n=1)"], "PC3D-MAPPO": ["-10.50 (n=1)", "–"]}


def test_foraging_returns_are_shown_a_hundredfold(tmp_path):
    make_run(tmp_path, "lbf", "pc3d", 0, {size: [0.25, 0.75] for size in LBF_SIZES})
    table = result_table(MAIN_RESULTS, find_runs([tmp_path]), "lbf")
    assert table.title == "LBF (×100): mean returns by team size"
    assert table.columns == ("Method", "train (2, 4, 6)", "validation (3, 5)", "test (7, 8)")
    assert texts(table)["PC3D-MAPPO"] == ["50.00 (n=1)"] * 3


def test_reference_players_are_rows_of_the_main_table(tmp_path):
    make_run(tmp_path, "spread", "pc3d", 0, spread_returns(0.0))
    write_references(tmp_path / "references.csv", "spread", {"random": spread_returns(-9.0)})
    row = texts(result_table(MAIN_RESULTS, find_runs([tmp_path]), "spread"))["Random (reference)"]
    assert row == ["-14.20", "-15.00", "-19.50"]


def test_references_that_score_another_return_are_left_out(tmp_path):
    make_run(tmp_path, "spread", "pc3d", 0, spread_returns(0.0), rules=SpreadRules("sum"))
    write_references(tmp_path / "references.csv", "spread", {"random": spread_returns(-9.0)})
    assert "Random (reference)" not in texts(result_table(MAIN_RESULTS, find_runs([tmp_path]), "spread"))


def test_ablation_and_hypernetwork_tables_need_something_to_compare(tmp_path):
    make_run(tmp_path, "spread", "pc3d", 0, spread_returns(0.0))
    make_run(tmp_path, "spread", "gate-on", 0, spread_returns(1.0))
    runs = find_runs([tmp_path])
    assert list(texts(result_table(ABLATIONS, runs, "spread"))) == ["PC3D-MAPPO", "Always On Gate"]
    assert result_table(HYPERNETWORK, runs, "spread") is None


def test_normalised_statistics_by_hand(tmp_path):
    for seed in (0, 1):
        make_run(tmp_path, "spread", "pc3d", seed, spread_returns(6.0))
        make_run(tmp_path, "spread", "mappo", seed, spread_returns(3.0))
    players = {"random": spread_returns(0.0), "scripted": spread_returns(12.0)}
    write_references(tmp_path / "references.csv", "spread", players)
    rows = texts(statistics_table(find_runs([tmp_path]), "spread"))
    certain = "{0:.3f} [{0:.3f}, {0:.3f}] (n=2)".format
    assert rows["MAPPO"] == [certain(0.25), certain(0.25), certain(0.0), certain(0.25), certain(1.0)]
    noted = cells(statistics_table(find_runs([tmp_path]), "spread"))["MAPPO"]
    strata = "strata [{0:.3f}, {0:.3f}]".format
    assert [cell.note for cell in noted] == [strata(0.25), strata(0.25), "", "", strata(1.0)]
    assert rows["PC3D-MAPPO"] == [certain(0.5), certain(0.5), certain(0.0), "–", "–"]


def test_differences_are_between_the_seeds_both_methods_have(tmp_path):
    for seed, shift in ((0, 1.0), (1, 2.0), (2, 6.0)):
        make_run(tmp_path, "spread", "pc3d", seed, spread_returns(shift))
    make_run(tmp_path, "spread", "mappo", 2, spread_returns(0.0))
    players = {"random": spread_returns(0.0), "scripted": spread_returns(12.0)}
    write_references(tmp_path / "references.csv", "spread", players)
    assert texts(statistics_table(find_runs([tmp_path]), "spread"))["MAPPO"][3] == "0.500 (n=1)"


def test_there_are_no_normalised_statistics_without_references(tmp_path):
    make_run(tmp_path, "spread", "pc3d", 0, spread_returns(0.0))
    assert statistics_table(find_runs([tmp_path]), "spread") is None


def test_the_clock_adds_up_all_sittings_of_a_run(tmp_path, random):
    run = make_run(tmp_path, "spread", "pc3d", 0, spread_returns(0.0))
    add_metrics(run, random, level=-10.0, rise=1.0)  # 200 updates in 150 seconds, 64 episodes each
    per_update, per_512 = cells(clock_table(find_runs([tmp_path])))["PC3D-MAPPO"]
    assert per_update == Cell("0.75 s (n=1)", note="paper 20.25 s")
    assert per_512 == Cell("6.00 s (n=1)", note="paper 162 s")


def test_a_run_that_was_held_up_does_not_move_the_clocks_table(tmp_path, random):
    for seed in range(3):
        run = make_run(tmp_path, "spread", "pc3d", seed, spread_returns(0.0))
        add_metrics(run, random, level=-10.0, rise=1.0)
    run.clock.write_text('{"updates": 200, "seconds": 9000.0}\n')
    per_update, _ = cells(clock_table(find_runs([tmp_path])))["PC3D-MAPPO"]
    assert per_update.text == "0.75 s (n=3)"


def test_nothing_is_inferred_from_the_papers_clock_of_ippo(tmp_path, random):
    run = make_run(tmp_path, "spread", "ippo", 0, spread_returns(0.0))
    add_metrics(run, random, level=-10.0, rise=1.0)
    per_update, per_512 = cells(clock_table(find_runs([tmp_path])))["IPPO"]
    assert (per_update.note, per_512.note) == ("paper 3.88 s", "paper –")


def test_the_gate_table_compares_forced_gates(tmp_path, random):
    add_context(make_run(tmp_path, "spread", "pc3d", 0, spread_returns(0.0)), random)
    assert texts(gate_table(find_runs([tmp_path]), "spread")) == {
        "PC3D-MAPPO, gate as trained": ["-3.00 (n=1)"] * 3,
        "PC3D-MAPPO, gate forced off": ["-5.00 (n=1)"] * 3,
        "PC3D-MAPPO, gate forced on": ["-4.00 (n=1)"] * 3,
    }


def test_recovery_and_gate_stand_side_by_side_and_are_never_scaled(tmp_path, random):
    add_context(make_run(tmp_path, "lbf", "pc3d", 0, {size: [0.5] for size in LBF_SIZES}), random)
    context = json.loads((tmp_path / "lbf/pc3d/seed-0/context.json").read_text())
    table = texts(recovery_table(find_runs([tmp_path]), "lbf"))
    for split, sizes in (("train", (2, 4, 6)), ("validation", (3, 5)), ("test", (7, 8))):
        means = [
            sum(context["by_size"][str(size)][name] for size in sizes) / len(sizes)
            for name in (
                "alignment",
                "alignment_with_teammates",
                "alignment_of_a_constant",
                "variance_explained",
                "personal_share",
                "gate_mean",
            )
        ]
        assert table[f"PC3D-MAPPO, {split}"] == [f"{mean:.2f} (n=1)" for mean in means]


def test_an_agent_alone_has_no_teammates_to_be_mistaken_for(tmp_path, random):
    add_context(make_run(tmp_path, "spread", "pc3d", 0, spread_returns(0.0)), random)
    row = texts(recovery_table(find_runs([tmp_path]), "spread"))["PC3D-MAPPO, train"]
    assert row[1] == "0.45 (n=1)"  # sizes 2, 4, 6 and 8; size 1 has no answer


def test_the_teachers_attention_is_told_where_it_was_looked_at(tmp_path, random):
    folder = make_run(tmp_path, "spread", "pc3d", 0, spread_returns(0.0))
    add_context(folder, random)
    row = texts(teacher_table(find_runs([tmp_path]), "spread"))["PC3D-MAPPO, train"]
    assert row == ["0.85 (n=1)", "0.80 (n=1)", "2.00 (n=1)"]  # over agents of sizes 2, 4, 6 and 8
    context = json.loads((folder.path / "context.json").read_text())
    for found in context["by_size"].values():  # as the first versions wrote it
        for name in ("attention_over_agents", "attention_over_tokens", "effective_tokens"):
            del found[name]
    (folder.path / "context.json").write_text(json.dumps(context))
    assert teacher_table(find_runs([tmp_path]), "spread") is None


@pytest.fixture
def one_better_one_alike(tmp_path):
    """MAPPO one above PC3D, PIC-MAPPO with nearly the same mean, and a single seed of IPPO."""
    for seed, noise in ((0, -0.1), (1, 0.0), (2, 0.1)):
        make_run(tmp_path, "spread", "pc3d", seed, spread_returns(noise))
        make_run(tmp_path, "spread", "mappo", seed, spread_returns(noise + 1.0))
        make_run(tmp_path, "spread", "pic", seed, spread_returns(5 * noise - 0.001))
    make_run(tmp_path, "spread", "ippo", 0, spread_returns(0.0))
    return find_runs([tmp_path])


def test_a_claim_is_judged_with_all_others_in_mind(one_better_one_alike):
    table = cells(claims_table(one_better_one_alike, "spread"))
    # t = 1 / √(2 × 0.01 / 3) with 4 degrees of freedom is 0.00026 by itself; it is one of six.
    note = "paper: better, p = 0.018"  # t = 2.55 / √(1.13 / 5) is 0.0007 by itself; the paper has thirty
    assert table["PC3D-MAPPO against MAPPO"][0] == Cell("worse, p = 0.002", best=True, note=note)
    assert {cell.text for cell in table["PC3D-MAPPO against PIC-MAPPO"]} == {"higher, p = 1.000"}
    assert not any(cell.best for cell in table["PC3D-MAPPO against PIC-MAPPO"])
    assert "PC3D-MAPPO against IPPO" not in table  # a single seed


def test_a_claim_that_only_the_correction_leaves_open_is_a_hint(tmp_path):
    for seed, noise in ((0, -0.1), (1, 0.0), (2, 0.1)):
        make_run(tmp_path, "spread", "pc3d", seed, spread_returns(noise))
        make_run(tmp_path, "spread", "pic", seed, spread_returns(noise + 0.25))
    # t = 0.25 / √(2 × 0.01 / 3) with 4 degrees of freedom is 0.0376 by itself; it is one of three.
    for cell in cells(claims_table(find_runs([tmp_path]), "spread"))["PC3D-MAPPO against PIC-MAPPO"]:
        assert cell.text == "hint: worse, p = 0.113"
        assert not cell.best


def test_a_difference_that_leaves_zero_out_is_bold(one_better_one_alike):
    table = cells(difference_table(one_better_one_alike, "spread"))
    worse, undecided = table["PC3D minus MAPPO"], table["PC3D minus PIC-MAPPO"]
    assert worse[0].text == "-1.00 [-1.23, -0.77]"  # 2.776 × √(2 × 0.01 / 3)
    assert worse[0].note == "paper +2.55 [+1.45, +3.65]"  # 2.307 × √(1.13 / 5), 7.9 degrees of freedom
    assert [cell.best for cell in worse] == [True] * 3
    assert [cell.best for cell in undecided] == [False] * 3
    assert "PC3D minus IPPO" not in table  # a single seed


def test_differences_stand_beside_each_other_by_team_size(tmp_path):
    for seed, noise in ((0, -0.1), (1, 0.0), (2, 0.1)):
        make_run(tmp_path, "spread", "pc3d", seed, {**spread_returns(noise), 9: [noise]})
        make_run(tmp_path, "spread", "mappo", seed, spread_returns(noise))
    table = size_difference_table(find_runs([tmp_path]), "spread")
    assert table.columns[1:4] == ("1 (train)", "2 (train)", "3 (validation)")
    row = cells(table)["PC3D minus MAPPO"]
    assert [cell.text for cell in row[:8]] == ["+0.00 [-0.23, +0.23]"] * 8
    assert row[8] == Cell("+10.00 [+9.77, +10.23]", best=True)


def test_the_export_has_the_shape_that_marl_eval_reads(tmp_path):
    run = make_run(tmp_path, "spread", "pc3d", 3, spread_returns(0.0))
    run.evaluations.write_text(
        json.dumps({"update": 5, "episodes": 40, "return_by_size": {"2": -7.0}}) + "\n"
    )
    exported = marl_eval(find_runs([tmp_path]))["spread"]
    assert exported["2-agents"]["pc3d"]["seed_3"] == {
        "step_1": {"step_count": 40, "mean_episode_return": [-7.0]},
        "absolute_metrics": {"mean_episode_return": [-2.0, -4.0]},
    }
    assert list(exported["10-agents"]["pc3d"]["seed_3"]) == ["absolute_metrics"]


def test_markdown_and_latex_show_names_as_they_are():
    table = Table(
        "t", "Title", "A caption", ("Method", "a|b"), ((Cell("x_y|$"), Cell("1", True, "paper 2")),)
    )
    assert markdown(table).splitlines() == [
        r"| Method | a\|b |",
        "| :--- | ---: |",
        r"| x\_y\|$ | **1**<br>paper 2 |",
    ]
    assert r"x\_y|\$ & \textbf{1} \\" in latex(table)
    assert r" & {\scriptsize paper 2} \\" in latex(table)


@pytest.mark.parametrize("table", [MAIN, ABLATION, HYPER])
def test_every_row_of_the_papers_tables_has_all_splits(table):
    for tasks in table.values():
        for row in tasks.values():
            assert list(row) == ["train", "validation", "test"]


def test_the_transcription_bears_out_what_the_paper_says_of_its_table():
    """PC3D obtains the strongest mean return in all tasks and splits."""
    for task in ("spread", "lbf", "rware"):
        for split in ("train", "validation", "test"):
            best = max(MAIN, key=lambda method: MAIN[method][task][split].mean)
            assert best == "pc3d"
