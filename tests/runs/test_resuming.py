"""A run stopped anywhere, in any way, ends with the very same bits as one that was left alone.

Runs killed and stopped at random moments are among the faults: this is what they rest on.
"""

import json
import os
import signal
import time

import pytest

from pc3d.runs.metrics import read_lines
from tests.runs.runs import digests, finish, start


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    result = finish(folder)
    assert result.returncode == 0, result.stderr
    return digests(folder)


def test_a_run_told_to_stop_saves_says_so_and_continues(tmp_path, undisturbed):
    process = start(tmp_path, "--checkpoint-every", "4")
    wait_for(tmp_path / "checkpoint", process)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 75, errors
    assert "the same command continues" in errors
    assert "Traceback" not in errors
    assert finish(tmp_path).returncode == 0
    assert digests(tmp_path) == undisturbed


def test_metrics_have_no_gap_and_no_repeat(tmp_path, undisturbed):
    process = start(tmp_path, "--checkpoint-every", "8")
    wait_for(tmp_path / "checkpoint", process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    for name in ("metrics.jsonl", "clock.jsonl"):
        with open(tmp_path / name, "ab") as file:
            file.write(b'{"update": 7, "torn')
    assert finish(tmp_path).returncode == 0
    assert [list(line) for line in read_lines(tmp_path / "clock.jsonl")] == [["seconds", "updates"]]
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["update"] for line in lines] == list(range(1, 13))


def test_a_finished_run_says_so_and_changes_nothing(tmp_path, undisturbed):
    assert finish(tmp_path).returncode == 0
    again = finish(tmp_path)
    assert again.returncode == 0
    assert "already finished" in again.stdout
    assert digests(tmp_path) == undisturbed


def test_a_damaged_checkpoint_is_named_and_the_one_before_it_serves(tmp_path, undisturbed):
    process = start(tmp_path, "--checkpoint-every", "4")
    wait_for(tmp_path / "checkpoint", process, count=2)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    newest = sorted((tmp_path / "checkpoint").glob("*.safetensors"))[-1]
    content = bytearray(newest.read_bytes())
    content[len(content) // 2] ^= 1
    newest.write_bytes(content)
    result = finish(tmp_path)
    assert result.returncode == 0, result.stderr
    assert newest.name in result.stderr
    assert digests(tmp_path) == undisturbed


def test_another_logging_frequency_leaves_the_policy_as_it_is(tmp_path, undisturbed):
    assert finish(tmp_path, "--log-every", "5", "--evaluate-every", "16").returncode == 0
    assert digests(tmp_path)["final.safetensors"] == undisturbed["final.safetensors"]


def test_another_seed_gives_another_policy(tmp_path, undisturbed):
    assert finish(tmp_path, "--seed", "1").returncode == 0
    assert digests(tmp_path)["final.safetensors"] != undisturbed["final.safetensors"]


def wait_for(checkpoints, process, count=1):
    """Wait until the run has saved that many checkpoints."""
    deadline = time.monotonic() + 120
    while len(list(checkpoints.glob("[0-9]*.safetensors"))) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
