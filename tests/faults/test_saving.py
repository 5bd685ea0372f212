"""Saving that is cut off, at every call to the operating system, and disks that refuse."""

import errno
import os
import shutil
import signal
import sys

import jax
import numpy as np
import pytest

from pc3d.experiment.experiment import Experiment
from pc3d.presets.paper import specialist
from pc3d.runs.run_folder import RunFolder
from pc3d.runs.train import Habits, train
from pc3d.runs.watcher import Watcher
from pc3d.system.errors import BadInput, Interrupted
from pc3d.system.files import write_atomically
from tests.faults.folders import UPDATES, arena_of, experiment_for, made_run, save, shapes_of
from tests.faults.system_calls import DIED, calls_of, die_at, refuse_at, watched
from tests.runs.runs import digests

EXPERIMENT = experiment_for()
OLD, NEW = UPDATES[-1], UPDATES[-1] + 5
HABITS = Habits(checkpoint_every=3, tensorboard=True)
REFUSALS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


@pytest.fixture
def run(tmp_path):
    return made_run(tmp_path / "run")


def saved_update(run: RunFolder) -> int:
    """Which checkpoint loads; it must be of one piece, with every number from the same moment."""
    found = run.newest_checkpoint(shapes_of(EXPERIMENT), EXPERIMENT)
    assert found is not None
    learner, description = found
    update = description["update"]
    assert all(np.all(np.asarray(leaf) == update) for leaf in jax.tree.leaves(learner))
    return update


def test_a_save_that_dies_at_any_call_leaves_the_old_checkpoint_or_the_new_one(run, tmp_path, figure, capfd):
    whole = tmp_path / "whole"
    shutil.copytree(run.path, whole)
    calls = calls_of(lambda: save(run, EXPERIMENT, NEW))
    outcomes = []
    deaths = [(number, torn) for number, name in enumerate(calls) for torn in {False, name == "write"}]
    for number, torn in deaths:
        shutil.rmtree(run.path)
        shutil.copytree(whole, run.path)
        assert die_at(lambda: save(run, EXPERIMENT, NEW), number, torn=torn) == DIED
        outcomes.append(saved_update(run))
        save(run, EXPERIMENT, NEW)  # whatever was left behind is not in the way
        assert saved_update(run) == NEW
    assert set(outcomes) == {OLD, NEW}
    assert outcomes == sorted(outcomes)  # once the new one can be read, it stays
    assert capfd.readouterr().err == ""  # nothing was damaged, so nothing had to be passed over
    happened = (
        f"the old checkpoint loads {outcomes.count(OLD)} times, the new one {outcomes.count(NEW)} times"
    )
    figure(f"death at each of the {len(calls)} system calls of a save", len(deaths), happened, "0 mixtures")


def test_content_is_on_disk_before_its_name_and_the_name_before_all_else(tmp_path):
    calls = calls_of(lambda: write_atomically(tmp_path / "file", b"content"))
    assert calls == ["unlink", "open", "write", "fsync", "close", "replace", "open", "fsync", "close"]


def test_no_call_of_a_save_goes_unwatched(run):
    seen: list[str] = []
    recording = True

    def hook(event: str, arguments: tuple) -> None:
        if recording and event in ("open", "os.rename", "os.remove", "os.truncate", "os.mkdir"):
            seen.append(event)

    sys.addaudithook(hook)  # Python has no way to take it off again
    calls = calls_of(lambda: save(run, EXPERIMENT, NEW))
    recording = False
    expected = {"open": "open", "replace": "os.rename", "unlink": "os.remove"}
    assert seen == [expected[name] for name in calls if name in expected]


def test_a_short_write_is_continued(tmp_path):
    real = os.write
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", lambda handle, content: real(handle, content[:3]))
        write_atomically(tmp_path / "file", b"0123456789")
    assert (tmp_path / "file").read_bytes() == b"0123456789"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What a run that nothing happened to leaves, and how often it calls the operating system."""
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    calls = calls_of(lambda: train_shortly(folder, HABITS))
    return digests(folder), calls


def short_run() -> Experiment:
    """Three updates with one team size: one program to compile."""
    return specialist(experiment_for("mappo", episodes=9), "2")


def train_shortly(folder, *more):
    train(short_run(), arena_of(short_run()), folder, *more)


def continues_to_the_same_bits(folder, undisturbed):
    train_shortly(folder, HABITS)
    return digests(folder) == undisturbed


def test_a_disk_that_refuses_a_write_is_one_sentence_and_harms_nothing(tmp_path, undisturbed, count, figure):
    expected, calls = undisturbed
    whole = [(name, number) for name in ("write", "fsync", "replace") for number in range(calls.count(name))]
    faults = [(name, number, error) for name, number in whole for error in REFUSALS]
    chosen = faults[:: max(1, len(faults) // count(len(faults), 5))]
    for place, (name, number, error) in enumerate(chosen):
        folder = tmp_path / str(place)
        refusing = watched(refuse_at(folder, name, number, error))
        with pytest.raises(BadInput, match=r"writing to .* was not possible") as stopped, refusing:
            train_shortly(folder, HABITS)
        assert stopped.value.exit_code == 2
        assert "\n" not in str(stopped.value)
        assert continues_to_the_same_bits(folder, expected), (name, number, error)
    happened = "one sentence, exit code 2; then the same command continues to the same bits"
    figure(
        "disk full, over quota or read-only, at each write of a run", len(chosen), happened, "0 bits differ"
    )


class After(Watcher):
    """A watcher to whom something happens after an update."""

    def __init__(self, update, happens):
        self.update, self.happens = update, happens

    def logged(self, line):
        if line["update"] == self.update:
            self.happens()


def test_a_folder_removed_under_the_run_is_one_sentence(tmp_path, figure):
    folder = tmp_path / "run"
    for update in (1, 2, 3):
        with pytest.raises(BadInput, match="was not possible: No such file or directory") as stopped:
            train_shortly(folder, HABITS, After(update, lambda: shutil.rmtree(folder)))
        assert stopped.value.exit_code == 2
        assert "\n" not in str(stopped.value)
    figure("the folder removed under the run", 3, "one sentence, exit code 2", "")


def test_a_stopped_run_that_then_finds_a_full_disk_keeps_its_checkpoint(tmp_path, undisturbed):
    run = RunFolder(tmp_path / "run")
    with pytest.raises(Interrupted):
        train_shortly(run.path, HABITS, After(1, lambda: signal.raise_signal(signal.SIGTERM)))
    saved = checkpoints(run)
    with pytest.raises(BadInput), watched(refuse_at(run.checkpoints, "write", 0, errno.ENOSPC)):
        train_shortly(run.path, HABITS)
    assert checkpoints(run) == saved
    assert continues_to_the_same_bits(run.path, undisturbed[0])


def checkpoints(run: RunFolder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in run.checkpoints.glob("[0-9]*")}
