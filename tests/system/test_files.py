"""Files that are what they seem: nothing is followed, nothing hangs, nothing is left behind."""

import errno
import os

import pytest

from pc3d.system.errors import BadInput, DamagedFile
from pc3d.system.files import (
    append,
    check_digests,
    digests_in,
    one_owner,
    read_bytes,
    refuse_links_between,
    refuse_oddities,
    write_atomically,
)
from pc3d.system.plain import printable
from pc3d.system.processes import last_words, start_worker
from tests.faults.system_calls import refuse_at, watched


@pytest.fixture
def outside(tmp_path):
    file = tmp_path / "outside"
    file.write_text("untouched")
    return file


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


def test_a_full_disk_leaves_no_temporary_file_and_the_old_content(folder):
    write_atomically(folder / "file", b"old")
    with pytest.raises(OSError, match="No space"), watched(refuse_at(folder, "write", 0, errno.ENOSPC)):
        write_atomically(folder / "file", b"new")
    assert [path.name for path in folder.iterdir()] == ["file"]
    assert (folder / "file").read_bytes() == b"old"


def test_a_link_is_read_only_where_a_user_named_it(folder, outside):
    (folder / "file").symlink_to(outside)
    with pytest.raises(DamagedFile, match="file is a link"):
        read_bytes(folder / "file")
    assert read_bytes(folder / "file", follow=True) == b"untouched"


def test_a_pipe_is_neither_read_nor_waited_for(folder):
    os.mkfifo(folder / "pipe")
    with pytest.raises(DamagedFile, match="not an ordinary file"):
        read_bytes(folder / "pipe")
    with pytest.raises(OSError, match="pipe"):
        append(folder / "pipe", b"x")


def test_a_folder_in_the_place_of_a_file_is_named_and_not_left_open(folder):
    opened_before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(DamagedFile, match="run is not an ordinary file"):
        read_bytes(folder)
    assert len(os.listdir("/proc/self/fd")) == opened_before


def test_nothing_is_appended_through_a_link(folder, outside):
    (folder / "metrics.jsonl").symlink_to(outside)
    with pytest.raises(OSError, match="symbolic links"):
        append(folder / "metrics.jsonl", b"x")
    assert outside.read_text() == "untouched"


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/null")])
def test_a_lock_that_is_none_is_refused_at_once(folder, make):
    make(folder / "lock")
    with pytest.raises((BadInput, OSError)), one_owner(folder):
        pass


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to(path.parent.parent / "outside")])
def test_a_workers_complaints_go_nowhere_else(folder, outside, make):
    make(folder / "errors.log")
    with pytest.raises(BadInput, match=r"errors\.log is neither an ordinary file nor a folder"):
        start_worker(["tasks"], folder / "errors.log")
    with pytest.raises(DamagedFile):
        last_words(folder / "errors.log", 1)
    assert outside.read_text() == "untouched"


def test_folders_of_a_folder_are_looked_at_if_they_are_named(folder, outside):
    (folder / "checkpoint").mkdir()
    (folder / "wandb").mkdir()
    (folder / "wandb" / "latest").symlink_to(outside)
    refuse_oddities(folder, ("checkpoint", "replays"))
    (folder / "checkpoint" / "1").symlink_to(outside)
    with pytest.raises(BadInput, match="checkpoint/1 is neither"):
        refuse_oddities(folder, ("checkpoint", "replays"))


def test_a_place_behind_a_link_is_not_in_the_folder(folder, tmp_path):
    (tmp_path / "elsewhere" / "seed-0").mkdir(parents=True)
    (folder / "spread").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput, match="spread is a link"):
        refuse_links_between(folder, folder / "spread" / "seed-0")
    refuse_links_between(folder / "spread", folder / "spread" / "seed-0")  # which the user named


def test_what_is_lost_is_noticed_as_what_is_changed_is(folder):
    for name in ("a", "b"):
        (folder / name).write_text(name)
    digests = digests_in(folder, ("a", "b"))
    check_digests(folder, ("a", "b"), digests, digests)
    (folder / "b").unlink()
    check_digests(folder, ("a", "b"), digests, ["a"])
    with pytest.raises(DamagedFile, match="b is missing"):
        check_digests(folder, ("a", "b"), digests, digests)
    (folder / "a").write_text("other")
    with pytest.raises(DamagedFile, match="a is damaged"):
        check_digests(folder, ("a", "b"), digests, ["a"])


def test_a_name_that_no_file_can_have_is_a_sentence(folder):
    with pytest.raises(DamagedFile, match="cannot be the name of a file"):
        read_bytes(folder / "a\0b")
    with pytest.raises(DamagedFile, match="File name too long"):
        read_bytes(folder / ("x" * 5000))


def test_what_steers_a_terminal_is_spelt_out():
    assert printable("a\x1b]0;owned\x07\u202eb ±\n") == "a\\x1b]0;owned\\x07\\u202eb ±\n"
