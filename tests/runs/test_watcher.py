"""Watchers: all are told, and none can end a training."""

import pytest

from pc3d.cli.own_watcher import own_watchers
from pc3d.runs.watcher import Watcher, Watchers
from pc3d.system.errors import BadInput, Interrupted


class Notes(Watcher):
    """Keeps what it was told of."""

    def __init__(self, folder=None):
        self.folder, self.told = folder, []

    def played(self, episodes):
        self.told.append(episodes)

    def ended(self, done):
        self.told.append(done)


class Failing(Watcher):
    """Raises whenever something was played."""

    def __init__(self, error):
        self.error, self.asked = error, 0

    def played(self, episodes):
        self.asked += 1
        raise self.error


def test_one_that_raises_is_left_out_with_one_warning_and_the_others_go_on(capsys):
    failing, notes = Failing(RuntimeError("the server\nis gone")), Notes()
    watchers = Watchers([failing, notes])
    for episodes in (1, 2):
        watchers.played(episodes)
    watchers.ended(True)
    assert notes.told == [1, 2, True]
    assert failing.asked == 1
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("pc3d: Failing no longer watches, and training goes on: RuntimeError: the")


@pytest.mark.parametrize("error", [Interrupted("stopped"), BadInput("the disk is full"), KeyboardInterrupt()])
def test_what_should_end_the_run_ends_it(error):
    with pytest.raises(type(error)):
        Watchers([Failing(error)]).played(1)


def test_an_own_watcher_is_made_of_the_runs_folder(tmp_path):
    assert own_watchers(None, tmp_path) == []
    (made,) = own_watchers(f"{__name__}:Notes", tmp_path)
    assert made.folder == tmp_path


def broken(folder):
    raise ValueError("no such thing")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("broken", r"gives no watcher: ValueError: no such thing \(test_watcher.py, line \d+\)"),
        ("dict", "the module .* has no dict"),
        ("KINDLESS", "gives no watcher: TypeError"),
        ("str_of", "is no watcher: called with a folder"),
    ],
)
def test_what_is_no_watcher_is_one_sentence(tmp_path, name, sentence):
    with pytest.raises(BadInput, match=sentence):
        own_watchers(f"{__name__}:{name}", tmp_path)


KINDLESS = 3
str_of = str
