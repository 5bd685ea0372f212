"""What methods need when they act, beside what that returns: where the table is, and what it says."""

from pc3d.report.figures.execution import execution_figure
from pc3d.report.runs import find_runs
from pc3d.report.sections import at_execution
from pc3d.report.tables.execution import execution_table
from pc3d.report.tables.results import MAIN_RESULTS, result_table
from pc3d.report.tables.table import Cell
from tests.report.made_up import make_run, write_references
from tests.report.made_up_messages import add_messages

SIZES = range(2, 9)
ALONE, MESSAGES = "own history", "own history, 3 messages of 128 numbers from each teammate in sight"


def add(root, method, *returns, heard=None):
    for seed, value in enumerate(returns):
        run = make_run(root, "lbf", method, seed, {size: [value] for size in SIZES})
        if heard is not None:
            add_messages(run, heard)


def rows(root):
    table = execution_table(find_runs([root]), "lbf")
    return {row[0].text: row[1:] for row in table.rows}


def test_the_table_is_there_where_one_method_needs_more_and_nowhere_else(tmp_path):
    add(tmp_path / "alone", "mappo", 0.1)
    add(tmp_path / "alone", "pc3d", 0.1)
    assert execution_table(find_runs([tmp_path / "alone"]), "lbf") is None
    assert at_execution(find_runs([tmp_path / "alone"])).empty
    for asking in ("graph", "mipi", "copa", "sog"):
        add(tmp_path / asking, asking, 0.1)
        assert not at_execution(find_runs([tmp_path / asking])).empty


def test_students_are_told_apart_from_those_who_learned_alone(tmp_path):
    add(tmp_path, "ptde", 0.1)
    add(tmp_path, "ctds", 0.1)
    assert execution_table(find_runs([tmp_path]), "lbf") is None  # nothing to tell them apart from
    add(tmp_path, "mappo", 0.1)
    found = rows(tmp_path)
    assert [found[name][0].note for name in ("MAPPO", "PTDE-MAPPO", "CTDS")] == [
        "",
        *["in training, a teacher with the team in view"] * 2,
    ]
    assert {cells[0].text for cells in found.values()} == {ALONE}


def test_methods_stand_by_what_they_need_with_what_is_said_and_returned(tmp_path):
    add(tmp_path, "copa", 0.3, heard=0.25)
    add(tmp_path, "graph", 0.1, 0.3, heard=7.5)
    add(tmp_path, "mipi", 0.2)
    add(tmp_path, "pc3d", 0.2, 0.4)
    found = rows(tmp_path)
    assert list(found) == ["PC3D-MAPPO", "MIPI-style", "Graph-MAPPO", "COPA"]
    assert [cells[1].text for cells in found.values()] == ["0", "0", "7.50", "0.25"]
    assert [cells[2].text for cells in found.values()] == ["–", "–", "128", "64"]
    assert found["Graph-MAPPO"][0].text == MESSAGES
    # Returns are shown times 100; Student's t with one degree of freedom is 12.71, and the error √(200 / 2).
    assert [cell.text for cell in found["Graph-MAPPO"][3:]] == ["20.00 ± 14.14 (n=2)"] * 3
    assert found["Graph-MAPPO"][3].note == "[-107.06, 147.06]"
    assert found["PC3D-MAPPO"][3].best
    assert (found["COPA"][3].text, found["COPA"][3].note) == ("30.00 (n=1)", "")


def test_messages_that_were_not_counted_are_not_said_to_be_none(tmp_path):
    add(tmp_path, "graph", 0.1)
    assert rows(tmp_path)["Graph-MAPPO"][1].text == "–"


def test_messages_are_a_mean_over_sizes_with_the_fewest_and_the_most(tmp_path):
    run = make_run(tmp_path, "lbf", "graph", 0, {size: [0.1] for size in SIZES})
    add_messages(run, lambda row: int(row.split(",")[4]) - 1)
    assert rows(tmp_path)["Graph-MAPPO"][1] == Cell("4.00", note="1.00 to 7.00 by team size")


def test_the_main_table_leaves_it_to_this_one(tmp_path):
    add(tmp_path, "graph", 0.1)
    assert "needs at execution" not in result_table(MAIN_RESULTS, find_runs([tmp_path]), "lbf").columns


def test_the_figure_has_a_mark_for_each_method_below_what_it_needs(tmp_path):
    add(tmp_path, "copa", 0.3)
    add(tmp_path, "graph", 0.1, 0.3)
    add(tmp_path, "pc3d", 0.2, 0.2)
    players = {"random": 0.0, "scripted": 0.4}
    returns = {name: {size: [value] for size in SIZES} for name, value in players.items()}
    write_references(tmp_path / "references.csv", "lbf", returns)
    (axes,) = execution_figure(find_runs([tmp_path])).drawing.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["PC3D-MAPPO", "Graph-MAPPO", "COPA"]
    needs = [text.get_text() for text in axes.texts]
    assert needs == ["needs nothing", "needs messages in sight", "needs a coach that sees everything"]
    heights = [*axes.get_yticks(), *(text.xy[1] for text in axes.texts)]
    assert sorted(heights, reverse=True) == [0, -1, -2, -3, -4, -5]
    marks = {
        line.get_ydata()[0]: line.get_xdata()[0] for line in axes.get_lines() if line.get_marker() == "o"
    }
    assert {height: round(float(value), 6) for height, value in marks.items()} == {-1: 0.5, -3: 0.5, -5: 0.75}
    assert axes.get_xlabel() == "score"


def test_methods_of_several_tasks_stand_in_one_order(tmp_path):
    """PTDE comes before CTDS, also where the first task lacks it."""
    for method in ("mappo", "ptde", "ctds"):
        add(tmp_path, method, 0.1)
    for method in ("mappo", "ctds"):
        make_run(tmp_path, "spread", method, 0, {size: [-1.0] for size in range(1, 11)})
    panels = execution_figure(find_runs([tmp_path])).drawing.axes
    names = [label.get_text() for label in panels[0].get_yticklabels()]
    assert (len(panels), names) == (2, ["MAPPO", "PTDE-MAPPO", "CTDS"])


def test_there_is_no_figure_where_nothing_is_scored_or_all_need_the_same(tmp_path):
    add(tmp_path / "alike", "mappo", 0.1)
    make_run(tmp_path / "bare", "lbf", "graph", 0, None)
    for name in ("alike", "bare"):
        assert execution_figure(find_runs([tmp_path / name])) is None
