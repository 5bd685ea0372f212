"""What is left when messages get lost or a coach speaks less: from files whose answers are known."""

import pytest

from pc3d.report.notes import notes
from pc3d.report.record import record_run
from pc3d.report.runs import find_runs
from pc3d.report.tables.less_said import less_said_tables
from pc3d.report.write import write_report
from pc3d.system.errors import BadInput, DamagedFile
from tests.report.made_up import add_metrics, make_run
from tests.report.made_up_messages import write_losses, write_speaking


def run_of(root, method, seed=0):
    return make_run(root, "spread", method, seed, {size: [-float(size)] for size in range(1, 11)})


def rows(root):
    links, coach = less_said_tables(find_runs([root]), "spread")
    return [
        [[(cell.text, cell.note) if cell.note else cell.text for cell in row] for row in table.rows]
        if table
        else None
        for table in (links, coach)
    ]


def test_lost_links_have_a_row_each_with_the_difference_from_all_of_them(tmp_path):
    for seed, lost in ((0, 1.0), (1, 3.0)):
        by_share = {0: (-10.0 - seed, 6.0), 1: (-10.0 - seed - lost, 0.0), 0.15: (-10.5 - seed, 4.0)}
        write_losses(run_of(tmp_path, "graph", seed), by_share)
    links, coach = rows(tmp_path)
    assert coach is None
    said = [(method, what, heard) for method, what, heard, *_ in links]
    assert said == [
        ("Graph-MAPPO", "all links", "6.00"),
        ("Graph-MAPPO", "15 % of links dropped", "4.00"),
        ("Graph-MAPPO", "100 % of links dropped", "0.00"),
    ]
    assert links[0][3] == "-10.50 ± 0.71 (n=2)"
    assert links[1][3] == ("-11.00 ± 0.71 (n=2)", "-0.50 [-0.50, -0.50]")
    assert links[2][3] == ("-12.50 ± 2.12 (n=2)", "-2.00 [-14.71, +10.71]")  # seed by seed: 1 and 3


def test_a_coach_has_a_row_for_each_interval_and_never_comes_last(tmp_path):
    ways = {0: (-30.0, 0.0), 16: (-20.0, 0.08), 1: (-9.0, 1.0), 4: (-10.0, 0.28)}
    write_speaking(run_of(tmp_path, "copa"), ways)
    links, coach = rows(tmp_path)
    assert links is None
    assert [row[1] for row in coach] == [
        "the coach speaks every step",
        "the coach speaks every 4 steps, as trained",
        "the coach speaks every 16 steps",
        "the coach is silent",
    ]
    assert [row[3] for row in coach] == [
        ("-9.00 (n=1)", "+1.00"),
        "-10.00 (n=1)",
        ("-20.00 (n=1)", "-10.00"),
        ("-30.00 (n=1)", "-20.00"),
    ]


def test_a_split_that_was_not_scored_whole_has_no_number(tmp_path):
    run = run_of(tmp_path, "graph")
    few = {str(size): {"returns": [-1.0], "messages": 1.0} for size in (3, 5, 7, 9)}
    write_losses(run, {}, by_share={"0": few})
    ((row,), _) = rows(tmp_path)
    assert row[3:] == ["–", "-1.00 (n=1)", "–"]


def test_the_report_has_them_and_so_has_the_report_of_the_record(tmp_path, random):
    for method, write in (("graph", write_losses), ("copa", write_speaking)):
        run = run_of(tmp_path / "runs", method)
        add_metrics(run, random, level=-50.0, rise=10.0)
        write(run, {1: (-3.0, 0.5)})
        record_run(run, tmp_path / "record" / method)
    for name in ("runs", "record"):
        write_report(find_runs([tmp_path / name]), tmp_path / "report" / name, lambda _: None)
    for table in ("links-dropped-spread.md", "coach-every-spread.md", "execution-spread.md"):
        first, second = (tmp_path / "report" / name / "tables" / table for name in ("runs", "record"))
        assert first.read_text() == second.read_text()
    assert "## At execution" in (tmp_path / "report" / "runs" / "report.md").read_text()
    assert (tmp_path / "report" / "runs" / "figures" / "execution.svg").exists()


def test_what_was_scored_by_other_rules_than_most_is_left_out_and_named(tmp_path):
    for seed, rollouts in enumerate((2, 2, 50)):
        write_losses(run_of(tmp_path, "graph", seed), {0: (-1.0, 1.0)}, rollouts=rollouts)
    ((row,), _) = rows(tmp_path)
    assert row[3] == "-1.00 ± 0.00 (n=2)"
    (told,) = [note for note in notes(find_runs([tmp_path])) if "other rules" in note]
    assert "seed-2/links.json" in told


def test_what_is_of_another_policy_is_named(tmp_path):
    write_losses(run_of(tmp_path, "graph"), {0: (-1.0, 1.0)})
    assert any(
        "links.json is of another final.safetensors" in note and "--links-dropped" in note
        for note in notes(find_runs([tmp_path]))
    )


@pytest.mark.parametrize("write", [write_losses, write_speaking])
def test_a_file_of_another_run_is_refused_and_so_is_one_that_is_no_evaluation(tmp_path, random, write):
    run = run_of(tmp_path, "graph")
    add_metrics(run, random, level=-50.0, rise=10.0)
    write(run, {1: (-1.0, 1.0)}, seed=5)
    with pytest.raises(BadInput, match="of another run"):
        rows(tmp_path)
    for wrong in ({"by_share": {"2": {}}, "scores": [{}]}, {"by_share": [], "scores": 3}):
        path = write(run, {1: (-1.0, 1.0)})
        kept = {name: value for name, value in wrong.items() if (name == "scores") == (path.stem == "coach")}
        write(run, {1: (-1.0, 1.0)}, **kept)
        with pytest.raises(DamagedFile, match=path.name):
            record_run(run, tmp_path / "record")
    path.write_text(path.read_text().replace("1", "2", 1))
    with pytest.raises(DamagedFile, match=path.name):
        record_run(run, tmp_path / "record")
