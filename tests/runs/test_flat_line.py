"""Lines of metrics: numbers alone in the file, one table of returns for the code; older files too."""

import json

import pytest

from pc3d.runs.flat_line import flat, with_table
from pc3d.runs.line_contract import read_evaluations, read_metrics
from pc3d.runs.metrics import LineFile
from pc3d.system.errors import DamagedFile

RETURNS = {"2": [3, -1.0], "10": [6, -2.0]}
METRICS = {"update": 2, "episodes": 9, "stage": 1, "return": -1.5, "return_by_size": RETURNS}
EVALUATION = {"update": 2, "episodes": 9, "return_by_size": {"2": -1.0, "10": -2.0}}
KINDS = [(read_metrics, METRICS), (read_evaluations, EVALUATION)]


@pytest.mark.parametrize(("read", "line"), KINDS)
def test_a_file_has_columns_of_numbers_and_reads_as_what_was_written(tmp_path, read, line):
    file = LineFile(tmp_path / "lines.jsonl")
    file.append(line)
    (columns,) = map(json.loads, file.path.read_text().splitlines())
    assert all(type(value) in (int, float) for value in columns.values())
    assert columns["return_mean_10"] == -2.0
    assert columns.get("return_count_10", 6) == 6
    assert read(file.path) == [line]
    assert list(read(file.path)[0]["return_by_size"]) == ["2", "10"]  # by size, not by spelling


@pytest.mark.parametrize(("read", "line"), KINDS)
def test_a_file_that_was_begun_in_the_older_shape_may_go_on_in_this_one(tmp_path, read, line):
    file = LineFile(tmp_path / "lines.jsonl")
    file.path.write_text(json.dumps(line) + "\n")
    file.append(line)
    assert read(file.path) == [line, line]


def test_what_has_no_returns_is_left_as_it_is():
    sitting = {"updates": 3, "seconds": 1.5}
    assert flat(sitting) == with_table(sitting) == sitting


@pytest.mark.parametrize("lost", ["return_mean_2", "return_count_2"])
def test_a_mean_without_its_count_is_damage_and_so_is_a_count_alone(tmp_path, lost):
    columns = {name: value for name, value in flat(METRICS).items() if name != lost}
    path = tmp_path / "lines.jsonl"
    path.write_text(json.dumps(columns) + "\n")
    with pytest.raises(DamagedFile, match="a line has no"):
        read_metrics(path)
