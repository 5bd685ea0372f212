"""Two runs on one folder at once: one of them owns it, and only for as long as it lives."""

from __future__ import annotations

import signal
import time

import pytest

from pc3d.cli import main
from tests.faults.tiny_runs import ENDLESS, PATIENCE, finish, start, train_words, updates_saved, wait_until
from tests.runs.runs import digests

# Without other processes: tests/runs/test_train.py (a folder has one owner).
pytestmark = pytest.mark.slow
REFUSED, STOPPED = 2, 75
PROMISED_SECONDS = 5


@pytest.fixture
def owner(tmp_path):
    """A run that is in the middle of its work, and held there."""
    process = start(train_words(tmp_path / "run"))
    wait_until(lambda: updates_saved(tmp_path / "run") > 0, process)
    process.send_signal(signal.SIGSTOP)
    yield process
    process.kill()
    process.communicate()


def test_a_folder_has_one_owner_and_a_dead_one_does_not_block_it(
    tmp_path, owner, undisturbed, count, figure, capsys
):
    folder, slowest = tmp_path / "run", 0.0
    challengers = count(10, 3)
    for _ in range(challengers):
        began = time.process_time()  # others may be busy on this machine
        assert main(train_words(folder)) == REFUSED
        slowest = max(slowest, time.process_time() - began)
        assert f"another process is already working in {folder}" in capsys.readouterr().err
    assert slowest < PROMISED_SECONDS
    owner.kill()
    owner.wait()
    finish(train_words(folder))
    assert digests(folder) == digests(undisturbed.run)
    happened = "refused with one sentence, exit code 2; after a kill -9 of the owner the next one continues"
    figure("another run on the same folder", challengers, happened, f"refused after {slowest:.2f} s")


def test_of_runs_that_start_at_once_one_works_and_the_others_are_refused(tmp_path, count, figure):
    words = [*train_words(tmp_path / "run"), *ENDLESS]
    runs = [start(words) for _ in range(count(10, 2))]
    deadline = time.monotonic() + PATIENCE
    while sum(run.poll() is None for run in runs) > 1:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (owner,) = (run for run in runs if run.poll() is None)
    wait_until(lambda: updates_saved(tmp_path / "run") > 0, owner)
    owner.terminate()
    endings = sorted((run.communicate(timeout=PATIENCE)[1], run.returncode) for run in runs)
    assert sorted(code for _, code in endings) == [REFUSED] * (len(runs) - 1) + [STOPPED]
    assert all("already working in" in said for said, code in endings if code == REFUSED)
    figure("runs started at once on one folder", len(runs), "one works, the others are refused", "")
