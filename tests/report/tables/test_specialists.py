"""Policies for one team size beside a policy for all of them."""

from dataclasses import replace

import numpy as np
import pytest

from pc3d.presets.paper import paper, specialist
from pc3d.report.notes import notes
from pc3d.report.runs import find_runs
from pc3d.report.sections import specialists
from pc3d.report.tables.specialists import returns_at, specialist_runs, specialist_table
from pc3d.report.write import write_report
from pc3d.system.errors import BadInput
from tests.report.made_up import make_run

SIZES = range(2, 9)


def make_specialist(root, size, seed, returns, **changes):
    alone = specialist(paper("lbf", "mappo"), str(size))
    return make_run(
        root / f"size-{size}",
        "lbf",
        "mappo",
        seed,
        {size: returns} if returns else None,
        rosters=alone.rosters,
        curriculum=alone.curriculum,
        **changes,
    )


@pytest.fixture
def runs(tmp_path):
    """Specialists give a tenth of their size (0.02 more in the second seed), the open team half of that."""
    for seed in (0, 1):
        make_run(tmp_path / "open", "lbf", "mappo", seed, {size: [size / 20] * 3 for size in SIZES})
        for size in (2, 5):
            make_specialist(tmp_path, size, seed, [size / 10 + 0.02 * seed] * 3)
    return find_runs([tmp_path])


def test_specialists_stand_apart_from_the_runs_of_all_sizes(runs):
    assert [run.name for run in runs.all] == ["lbf mappo seed 0", "lbf mappo seed 1"]
    assert len(runs.specialists) == 4
    np.testing.assert_allclose(returns_at(5, runs, "lbf", "mappo"), [25.0, 25.0])
    np.testing.assert_allclose(returns_at(5, specialist_runs(runs), "lbf", "mappo"), [50.0, 52.0])


def test_the_table_has_the_difference_at_every_size_that_has_a_specialist(runs):
    table = specialist_table(runs, "lbf")
    assert table is not None
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["2 agents", "21.00 ± 1.41 (n=2)", "10.00 ± 0.00 (n=2)", "-11.00 [-23.71, +1.71]"],
        ["5 agents", "51.00 ± 1.41 (n=2)", "25.00 ± 0.00 (n=2)", "-26.00 [-38.71, -13.29]"],
    ]
    assert [row[3].best for row in table.rows] == [False, True]


def test_sizes_that_the_policy_for_all_sizes_never_saw_are_named(runs):
    table = specialist_table(runs, "lbf")
    assert table is not None
    assert [row[0].note for row in table.rows] == ["", "validation"]


def test_the_whole_report_is_written_with_them(runs, tmp_path):
    write_report(runs, tmp_path / "report", lambda _: None)
    assert (tmp_path / "report" / "tables" / "specialists-lbf.md").exists()
    assert (tmp_path / "report" / "figures" / "specialists-lbf.svg").exists()


def test_specialists_alone_make_a_report_too(tmp_path):
    for size in (2, 5):
        make_specialist(tmp_path, size, 0, [0.1])
    runs = find_runs([tmp_path])
    assert [row[1].text for row in specialists(runs).tables[0].rows] == ["10.00 (n=1)", "10.00 (n=1)"]
    write_report(runs, tmp_path / "report", lambda _: None)


def test_runs_of_one_size_only_are_ordinary_where_there_are_no_others(tmp_path):
    for seed in (0, 1):
        make_specialist(tmp_path, 5, seed, [0.1])
    runs = find_runs([tmp_path])
    assert (len(runs.all), len(runs.specialists)) == (2, 0)


def test_an_unfinished_specialist_is_named_and_counts_nowhere(tmp_path):
    make_specialist(tmp_path, 2, 0, [0.1])
    make_specialist(tmp_path, 5, 0, [0.1], done=False)
    runs = find_runs([tmp_path])
    assert any(note.startswith("lbf mappo seed 0 5 agents only: unfinished") for note in notes(runs))
    assert returns_at(5, specialist_runs(runs), "lbf", "mappo").size == 0


def test_the_same_specialist_twice_is_refused(tmp_path):
    for folder in ("a", "b"):
        make_specialist(tmp_path / folder, 2, 0, [0.1])
    with pytest.raises(BadInput, match="two runs are lbf mappo seed 0 2 agents only"):
        find_runs([tmp_path])


def test_runs_of_all_sizes_must_still_split_them_alike(tmp_path):
    make_run(tmp_path / "a", "lbf", "mappo", 0, None)
    other = replace(paper("lbf", "mappo").rosters, test=(7,))
    make_run(tmp_path / "b", "lbf", "mappo", 1, None, rosters=other)
    with pytest.raises(BadInput, match="split the team sizes differently"):
        find_runs([tmp_path])
