"""Spread's returns by every way of counting collisions."""

import csv

import pytest

from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.report.runs import find_runs
from pc3d.report.tables.collisions import collision_table
from pc3d.report.write import write_report
from pc3d.tasks.spread.rules import SpreadRules
from tests.report.made_up import make_run, write_references

SIZES = range(1, 11)
PAIRS = 3


def count_pairs(path, pairs):
    """Write the column that evaluation adds on Spread."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    with open(path, "w", newline="") as file:
        columns = [["colliding_pairs"], *[[pairs]] * (len(rows) - 1)]
        csv.writer(file).writerows(row + more for row, more in zip(rows, columns, strict=True))


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


def test_a_pair_costs_once_or_twice_or_its_share_of_the_team(tmp_path):
    for seed, level in ((0, -10.0), (1, -20.0)):
        run = make_run(tmp_path, "spread", "mappo", seed, {size: [level] for size in SIZES})
        count_pairs(run.path / "scores.csv", PAIRS)
    table = collision_table(find_runs([tmp_path]))
    assert table is not None
    # At test sizes, 2 / 9 and 2 / 10 of 3 pairs instead of 3: 2.3667 less; at 1, 2, 4, 6 and 8 agents 0.55.
    assert texts(table) == [
        ["MAPPO", "1", *["-15.00 ± 7.07 (n=2)"] * 3, "1.00"],
        ["MAPPO", "2", *["-18.00 ± 7.07 (n=2)"] * 3, "1.00"],
        [
            "MAPPO",
            "2 / team size",
            "-14.45 ± 7.07 (n=2)",
            "-13.35 ± 7.07 (n=2)",
            "-12.63 ± 7.07 (n=2)",
            "0.87",
        ],
        ["MAPPO", "paper", "-42.45 ± 0.8", "-51.96 ± 1.3", "-86.13 ± 1.7", "2.03"],
    ]


@pytest.mark.parametrize(("trained", "expected"), [("sum", "-7.00 (n=1)"), ("mean", "-12.37 (n=1)")])
def test_policies_trained_for_another_cost_are_told_in_it(tmp_path, trained, expected):
    run = make_run(
        tmp_path, "spread", "pc3d", 0, {size: [-10.0] for size in SIZES}, rules=SpreadRules(trained)
    )
    count_pairs(run.path / "scores.csv", PAIRS)
    table = collision_table(find_runs([tmp_path]))
    assert table is not None
    # At test sizes a mean over agents had cost 0.6333 instead of 3.
    assert texts(table)[0][4] == expected
    assert f"trained for a cost of {'2.' if trained == 'sum' else '2 / team size.'}" in table.caption


def test_a_team_that_stands_still_is_told_of_without_seeds(tmp_path):
    run = make_run(tmp_path, "spread", "pc3d", 0, {size: [-10.0] for size in SIZES})
    write_references(tmp_path / "references.csv", "spread", {"noop": {size: [-30.0] for size in SIZES}})
    for path in (run.path / "scores.csv", tmp_path / "references.csv"):
        count_pairs(path, PAIRS)
    table = collision_table(find_runs([tmp_path]))
    assert table is not None
    assert texts(table)[-2] == ["No-op", "2", "-33.00", "-33.00", "-33.00", "1.00"]


@pytest.mark.parametrize("pairs", ["", "many", "nan", None])
def test_seeds_that_do_not_tell_their_pairs_are_left_out(tmp_path, pairs):
    for seed, level in ((0, -10.0), (1, -20.0)):
        run = make_run(tmp_path, "spread", "mappo", seed, {size: [level] for size in SIZES})
        if seed == 0 or pairs is not None:
            count_pairs(run.path / "scores.csv", PAIRS if seed == 0 else pairs)
    table = collision_table(find_runs([tmp_path]))
    assert table is not None
    assert texts(table)[1][:3] == ["MAPPO", "2", "-13.00 (n=1)"]


def test_references_of_some_sizes_only_are_left_out(tmp_path):
    run = make_run(tmp_path, "spread", "pc3d", 0, {size: [-10.0] for size in SIZES})
    write_references(tmp_path / "references.csv", "spread", {"noop": {size: [-30.0] for size in (1, 2)}})
    for path in (run.path / "scores.csv", tmp_path / "references.csv"):
        count_pairs(path, PAIRS)
    table = collision_table(find_runs([tmp_path]))
    assert table is not None
    assert {row[0] for row in texts(table)} == {"PC3D-MAPPO"}


def test_other_sizes_than_the_papers_make_no_table(tmp_path):
    only = {"rosters": Rosters(train=(2,)), "curriculum": Curriculum((Stage(1.0, (2,), (1.0,)),))}
    run = make_run(tmp_path, "spread", "pc3d", 0, {2: [-10.0]}, **only)
    count_pairs(run.path / "scores.csv", PAIRS)
    assert collision_table(find_runs([tmp_path])) is None


def test_scores_without_pairs_make_no_table(tmp_path):
    make_run(tmp_path, "spread", "pc3d", 0, {size: [-10.0] for size in SIZES})
    make_run(tmp_path, "lbf", "pc3d", 0, {size: [0.1] for size in range(2, 9)})
    assert collision_table(find_runs([tmp_path])) is None


def test_it_is_in_the_report(tmp_path):
    run = make_run(tmp_path / "runs", "spread", "pc3d", 0, {size: [-10.0] for size in SIZES})
    count_pairs(run.path / "scores.csv", PAIRS)
    write_report(find_runs([tmp_path / "runs"]), tmp_path / "report", lambda _: None)
    assert "what a colliding pair costs" in (tmp_path / "report" / "report.md").read_text()
