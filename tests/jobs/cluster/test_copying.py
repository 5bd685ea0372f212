"""A run's folder in two places: whole copies, torn copies, and names that lead elsewhere."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pc3d.jobs.cluster import copying
from pc3d.jobs.cluster.copying import Changes, Piece, Watch, take_over
from pc3d.system.errors import BadInput

NAMES = (
    "metrics.jsonl",
    "checkpoint/000000001.safetensors",
    "replays/size-3.json",
    "done.json",
    "scores.csv",
)
FOLDERS = st.dictionaries(st.sampled_from(NAMES), st.binary(max_size=6))


def fill(folder: Path, contents: dict[str, bytes]) -> None:
    """Make these the only files of the folder."""
    for name in NAMES:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if name in contents:
            path.write_bytes(contents[name])


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@settings(deadline=None, max_examples=30)
@given(st.lists(FOLDERS, min_size=1, max_size=5))
def test_a_copy_follows_its_original_through_any_changes(states):
    with tempfile.TemporaryDirectory() as scratch:
        original, copy = Path(scratch, "original"), Path(scratch, "copy")
        watch = Watch(original)
        for state in states:
            fill(original, state)
            take_over(watch.changes(), copy)
            assert contents(copy) == state


def test_what_was_appended_is_sent_alone(tmp_path):
    watch = Watch(tmp_path)
    fill(tmp_path, {"metrics.jsonl": b"one\n"})
    watch.changes()
    fill(tmp_path, {"metrics.jsonl": b"one\ntwo\n"})
    assert watch.changes() == Changes((Piece("metrics.jsonl", 4, b"two\n"),))


def test_locks_and_unfinished_files_stay_where_they_are(tmp_path):
    (tmp_path / "lock").write_bytes(b"")
    (tmp_path / ".scores.csv.new").write_bytes(b"half")
    assert Watch(tmp_path).changes() == Changes()


@pytest.mark.parametrize(
    "name",
    ["../outside", "/etc/outside", "a/../../outside", "", ".", "..", ".hidden", "a//b", "a\\b", "link/x"],
)
def test_a_name_that_leads_outside_is_refused_and_nothing_is_written(tmp_path, name):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    before = set(tmp_path.rglob("*"))
    for changes in (
        Changes((Piece("fine.json", 0, b"x"), Piece(name, 0, b"x"))),
        Changes((Piece("fine.json", 0, b"x"),), (name,)),
    ):
        with pytest.raises(BadInput, match="was refused"):
            take_over(changes, folder)
    assert set(tmp_path.rglob("*")) == before


def test_a_file_that_somebody_else_changed_is_not_appended_to(tmp_path):
    (tmp_path / "metrics.jsonl").write_bytes(b"one\nother\n")
    with pytest.raises(BadInput, match="changed by somebody else"):
        take_over(Changes((Piece("metrics.jsonl", 4, b"two\n"),)), tmp_path)


@pytest.mark.parametrize("files_until_the_cut", range(6))
def test_a_torn_copy_never_looks_further_than_it_is(tmp_path, monkeypatch, files_until_the_cut):
    original, copy = tmp_path / "original", tmp_path / "copy"
    finished = (
        "scores.csv",
        "done.json",
        "final.safetensors",
        "checkpoint/000000001.safetensors",
        "metrics.jsonl",
    )
    for name in finished:
        (original / name).parent.mkdir(parents=True, exist_ok=True)
        (original / name).write_bytes(b"x")
    left = iter(range(files_until_the_cut))

    def write_until_the_cut(path, content, write=copying.write_atomically):
        if next(left, None) is None:
            raise KeyboardInterrupt
        write(path, content)

    monkeypatch.setattr(copying, "write_atomically", write_until_the_cut)
    if files_until_the_cut < len(finished):
        with pytest.raises(KeyboardInterrupt):
            take_over(Watch(original).changes(), copy)
    else:
        take_over(Watch(original).changes(), copy)
    assert set(contents(copy)) == set(finished[len(finished) - files_until_the_cut :])


def test_a_checkpoint_is_never_copied_without_the_metrics_it_relies_on(tmp_path, monkeypatch):
    """The run goes on while it is read: after each read it writes a line, then the checkpoint after it."""
    updates = 0

    def read_then_update(path, read=Path.read_bytes):
        nonlocal updates
        content = read(path)
        updates += 1
        with open(tmp_path / "metrics.jsonl", "ab") as file:
            file.write(b"line\n")
        (tmp_path / "checkpoint" / f"{updates:09d}.safetensors").write_bytes(b"x")
        return content

    fill(tmp_path, {"metrics.jsonl": b""})
    read_then_update(tmp_path / "metrics.jsonl")
    monkeypatch.setattr(Path, "read_bytes", read_then_update)
    pieces = {piece.name: piece.content for piece in Watch(tmp_path).changes().pieces}
    newest = max(int(Path(name).stem) for name in pieces if name.startswith("checkpoint/"))
    assert pieces["metrics.jsonl"].count(b"\n") >= newest
