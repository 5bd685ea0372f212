"""What training did in each stage, from a run's history."""

import json

from pc3d.report.runs import find_runs
from pc3d.report.tables.training import training_table
from pc3d.report.write import write_report
from tests.report.made_up import make_run


def with_history(run, *lines):
    run.metrics.write_text("".join(json.dumps(line) + "\n" for line in lines))


def line(stage, value, episodes=8, **more):
    by_size = {"2": [episodes, value]}
    return {"update": 1, "episodes": 8, "stage": stage, "return": value, "return_by_size": by_size, **more}


def texts(table):
    return [[(cell.text, cell.note) for cell in row] for row in table.rows]


def test_each_stage_has_the_mean_of_its_lines_and_of_the_seeds(tmp_path):
    first, second = (make_run(tmp_path, "rware", "mappo", seed, None) for seed in (0, 1))
    with_history(first, line(1, 1.0, entropy=1.5), line(1, 3.0, entropy=1.3), line(2, 9.0))
    with_history(second, line(1, 4.0, entropy=1.0), line(2, 11.0))
    table = training_table(find_runs([tmp_path]), "rware")
    assert table is not None
    assert texts(table) == [
        [("MAPPO", ""), ("1", ""), ("3 (n=2)", "2 to 4"), ("–", ""), ("–", ""), ("1.2 (n=2)", "1 to 1.4")],
        [("MAPPO", ""), ("2", ""), ("10 (n=2)", "9 to 11"), ("–", ""), ("–", ""), ("–", "")],
    ]


def test_a_line_weighs_as_many_episodes_as_it_stands_for(tmp_path):
    run = make_run(tmp_path, "rware", "mappo", 0, None)
    with_history(run, line(1, 1.0, episodes=30, entropy=1.0), line(1, 5.0, episodes=10, entropy=2.0))
    table = training_table(find_runs([tmp_path]), "rware")
    assert table is not None
    assert [cell.text for cell in table.rows[0][2:]] == ["2 (n=1)", "–", "–", "1.25 (n=1)"]


def test_one_seed_has_no_range_and_returns_are_shown_as_elsewhere(tmp_path):
    with_history(make_run(tmp_path, "lbf", "mappo", 0, None), line(1, 0.123, loss_value=0.5))
    table = training_table(find_runs([tmp_path]), "lbf")
    assert table is not None
    assert texts(table)[0][2:4] == [("12.3 (n=1)", ""), ("0.5 (n=1)", "")]  # × 100, as LBF's returns are


def test_runs_that_are_not_finished_or_have_no_history_are_left_out(tmp_path):
    make_run(tmp_path, "lbf", "mappo", 0, None)
    with_history(make_run(tmp_path, "lbf", "pc3d", 0, None, done=False), line(1, 0.1))
    assert training_table(find_runs([tmp_path]), "lbf") is None


def test_it_is_in_the_report(tmp_path):
    with_history(make_run(tmp_path / "runs", "lbf", "mappo", 0, None), line(1, 0.1))
    write_report(find_runs([tmp_path / "runs"]), tmp_path / "report", lambda _: None)
    assert "training, stage by stage" in (tmp_path / "report" / "report.md").read_text()
