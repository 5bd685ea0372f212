"""SIGTERM and Ctrl-C at random moments: one sentence, exit code 75, and the same command goes on."""

from __future__ import annotations

import random
import re
import signal
import time
from pathlib import Path

import pytest

from tests.faults.tiny_runs import (
    ENDLESS,
    PATIENCE,
    catches,
    children_of,
    evaluate_words,
    finish,
    start,
    train_words,
    unscored_copy,
    updates_saved,
    updates_written,
    wait_until,
    write_study,
)
from tests.runs.runs import digests

SIGNALS = (signal.SIGTERM, signal.SIGINT)
STOPPED, DONE = 75, 0
SIGNALS_PER_RUN = 5


def stopped(words: list[str], number: signal.Signals, wait: float) -> tuple[str, float]:
    """What a command said when a signal stopped it after some seconds, and how many seconds that took.

    Nothing if it was already done. Else it must be one sentence.
    """
    process = start(words)
    # Before its first line has run, a signal is a matter between Python and the operating system.
    wait_until(lambda: catches(process, signal.SIGTERM), process)
    assert process.poll() is None, "it never listened"
    time.sleep(wait)
    process.send_signal(number)
    began = time.monotonic()
    _, errors = process.communicate(timeout=PATIENCE)
    seconds = time.monotonic() - began
    assert process.returncode in (STOPPED, DONE), errors
    assert errors.count("\n") == (process.returncode == STOPPED), errors
    assert "Traceback" not in errors
    return errors, seconds


@pytest.mark.slow  # at a moment of our choice: tests/runs/test_resuming.py
def test_a_run_told_to_stop_saves_and_continues_to_the_same_bits(tmp_path, undisturbed, count, figure):
    whole, life = undisturbed.run, undisturbed.training
    moments, wanted = random.Random(9), count(40, 2)
    stops, slowest, runs = 0, 0.0, 0
    while stops < wanted:
        folder, runs = tmp_path / str(runs), runs + 1
        for _ in range(SIGNALS_PER_RUN):
            if stops == wanted or (folder / "done.json").exists():
                break
            said, seconds = stopped(train_words(folder), SIGNALS[stops % 2], moments.uniform(0, life))
            stops, slowest = stops + bool(said), max(slowest, seconds)
            if after := re.search(r"stopped after (\d+) episodes", said):
                assert updates_saved(folder) == updates_written(folder) == int(after.group(1))
        finish(train_words(folder))
        assert digests(folder) == digests(whole)
    happened = "one sentence, exit code 75; the same command continues to the same bits"
    figure("SIGTERM or Ctrl-C to a run", wanted, happened, f"stopped after {slowest:.1f} s")


@pytest.mark.slow
def test_an_evaluation_told_to_stop_leaves_no_scores_or_the_right_ones(tmp_path, undisturbed, count, figure):
    whole, life = undisturbed.run, undisturbed.evaluating
    moments, wanted, stops = random.Random(10), count(10, 1), 0
    folder = unscored_copy(whole, tmp_path / "run")
    while stops < wanted:
        stops += bool(stopped(evaluate_words(folder), SIGNALS[stops % 2], moments.uniform(0, life))[0])
    finish(evaluate_words(folder))
    assert (folder / "scores.csv").read_bytes() == (whole / "scores.csv").read_bytes()
    figure("SIGTERM or Ctrl-C to an evaluation", wanted, "one sentence, exit code 75; made anew", "")


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_a_study_told_to_stop_stops_its_workers_first(tmp_path, number, figure):
    file, folder = tmp_path / "study.toml", tmp_path / "study"
    write_study(file, 1, *ENDLESS)
    process = start(["study", str(file), "--folder", str(folder), "--workers", "1"])
    wait_until(lambda: any(folder.rglob("metrics.jsonl")), process)
    (worker,) = children_of(process.pid)
    process.send_signal(number)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == STOPPED, errors
    assert errors == "pc3d: the study is stopped and everything is saved; the same command continues\n"
    assert not Path(f"/proc/{worker}").exists()
    assert any(folder.rglob("checkpoint/[0-9]*.safetensors"))
    figure(f"{number.name} to a study", 1, "its workers save and end first; exit code 75", "")
