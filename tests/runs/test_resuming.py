"""A run stopped anywhere, in any way, ends with the very same bits as one that was left alone.

Runs killed and stopped at random moments are among the faults, and so are other seeds and habits of writing
down: this is what they rest on. Runs begin in processes of their own and are continued in this one.
"""

import shutil
import signal
import time

import pytest

from pc3d.cli import main
from pc3d.play.arena import CompiledArena
from pc3d.runs.metrics import read_lines
from pc3d.runs.train import Habits, train
from pc3d.system.errors import Interrupted
from pc3d.tasks.make import make_game
from tests.runs.runs import digests, finish, start, train_words
from tests.runs.test_replay_folder import TWO_STAGES, StopAfter
from tests.small import HAPPO_METHODS, small_experiment


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    finish(folder)
    return folder


@pytest.fixture(scope="module")
def told_to_stop(tmp_path_factory):
    """A run that was told to stop after its second checkpoint, and what it said then."""
    folder = tmp_path_factory.mktemp("stopped") / "run"
    process = start(folder, "--checkpoint-every", "4")
    wait_for(folder / "checkpoint", process, count=2)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 75, errors
    return folder, errors


@pytest.fixture
def stopped(told_to_stop, tmp_path):
    """A copy of it, to be continued."""
    shutil.copytree(told_to_stop[0], tmp_path / "run")
    return tmp_path / "run"


def test_a_run_told_to_stop_says_so_in_a_sentence(told_to_stop):
    folder, errors = told_to_stop
    assert "the same command continues" in errors
    assert "Traceback" not in errors
    assert not (folder / "done.json").exists()


def test_a_run_told_to_stop_continues_to_the_same_bits(stopped, undisturbed):
    # What is evaluated on the way has no part in what is learned.
    assert main(train_words(stopped, "--evaluate-every", "16")) == 0
    assert digests(stopped) == digests(undisturbed)
    assert read_lines(stopped / "evaluations.jsonl")


def test_metrics_have_no_gap_and_no_repeat(stopped, undisturbed):
    """Also if they are ahead of the checkpoint, as after a crash, and torn."""
    newest_checkpoint(stopped).unlink()
    for name in ("metrics.jsonl", "clock.jsonl"):
        with open(stopped / name, "ab") as file:
            file.write(b'{"update": 7, "torn')
    assert main(train_words(stopped)) == 0
    assert [list(line) for line in read_lines(stopped / "clock.jsonl")] == [["seconds", "updates"]] * 2
    assert [line["update"] for line in read_lines(stopped / "metrics.jsonl")] == list(range(1, 13))
    assert digests(stopped) == digests(undisturbed)


def test_a_finished_run_says_so_and_changes_nothing(undisturbed, capsys):
    before = digests(undisturbed)
    assert main(train_words(undisturbed)) == 0
    assert "already finished" in capsys.readouterr().out
    assert digests(undisturbed) == before


def test_a_damaged_checkpoint_is_named_and_the_one_before_it_serves(stopped, undisturbed, capsys):
    newest = newest_checkpoint(stopped)
    content = bytearray(newest.read_bytes())
    content[len(content) // 2] ^= 1
    newest.write_bytes(content)
    assert main(train_words(stopped)) == 0
    assert newest.name in capsys.readouterr().err
    assert digests(stopped) == digests(undisturbed)


@pytest.mark.parametrize(
    "method", [*(pytest.param(name, marks=pytest.mark.slow) for name in HAPPO_METHODS), "ptde"]
)
def test_a_run_that_learns_in_turns_or_stages_continues_to_the_same_bits(tmp_path, method):
    experiment = small_experiment(method, episodes=12, curriculum=TWO_STAGES)
    habits, arena = Habits(checkpoint_every=3, tensorboard=False), CompiledArena(make_game(experiment))
    whole = train(experiment, arena, tmp_path / "whole", habits)
    with pytest.raises(Interrupted):
        train(experiment, arena, tmp_path / "stopped", habits, StopAfter(2))
    assert digests(train(experiment, arena, tmp_path / "stopped", habits).path) == digests(whole.path)


def newest_checkpoint(folder):
    return sorted((folder / "checkpoint").glob("*.safetensors"))[-1]


def wait_for(checkpoints, process, count=1):
    """Wait until the run has saved that many checkpoints."""
    deadline = time.monotonic() + 120
    while len(list(checkpoints.glob("[0-9]*.safetensors"))) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
