"""Files of JSON lines: what a reader sees of one that is being written."""

import pytest

from pc3d.runs import metrics
from pc3d.runs.metrics import LineFile, last_line, read_lines
from pc3d.system.errors import DamagedFile


@pytest.fixture
def path(tmp_path):
    file = LineFile(tmp_path / "lines.jsonl")
    for number in range(5):
        file.append({"update": number})
    return file.path


def test_the_last_line_is_the_last_of_all_lines(path):
    assert last_line(path) == read_lines(path)[-1] == {"update": 4}


def test_a_line_that_is_being_written_is_not_there_yet(path):
    with open(path, "ab") as file:
        file.write(b'{"update": 5')
    assert last_line(path) == read_lines(path)[-1] == {"update": 4}


def test_only_the_end_of_a_long_file_is_read(path, monkeypatch):
    path.write_bytes(b"not JSON\n" + path.read_bytes())
    monkeypatch.setattr(metrics, "LONGEST_LINE", 20)
    assert last_line(path) == {"update": 4}
    with pytest.raises(DamagedFile):
        read_lines(path)


@pytest.mark.parametrize("content", [b"", b'{"torn": '])
def test_no_whole_line_is_none(tmp_path, content):
    assert last_line(tmp_path / "none") is None
    (tmp_path / "some").write_bytes(content)
    assert last_line(tmp_path / "some") is None


@pytest.mark.parametrize("line", [b"torn in the middle", b"[1]", b"[" * 100_000])
def test_what_is_no_table_is_damage(tmp_path, line):
    (tmp_path / "file").write_bytes(line + b"\n")
    with pytest.raises(DamagedFile):
        last_line(tmp_path / "file")
