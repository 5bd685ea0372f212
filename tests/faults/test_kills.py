"""kill -9 at random moments of a run's whole life: it continues as if nothing had happened."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import pytest

from pc3d.runs.metrics import read_lines
from tests.faults.tiny_runs import (
    CAPACITY,
    INTERVAL,
    UPDATES,
    evaluate_words,
    finish,
    replayed_words,
    start,
    train_words,
    unfinished_files,
    unscored_copy,
    updates_saved,
    updates_written,
    wait_until,
)
from tests.runs.runs import digests

# Every kill is two or more processes that start; make test kills a study (tests/jobs/test_study.py) instead.
pytestmark = pytest.mark.slow
KILLS_PER_RUN = 5
COMPILING_RUNS = 5  # one in so many has nothing compiled before
Aim = Callable[[random.Random, Path, Popen[str], float], None]


def anywhere(moments: random.Random, folder: Path, process: Popen[str], life: float) -> None:
    """Importing, compiling, anything."""
    time.sleep(moments.uniform(0, life))


def learning(moments: random.Random, folder: Path, process: Popen[str], life: float) -> None:
    """Some updates after it began."""
    enough = updates_written(folder) + moments.randint(1, 2 * INTERVAL)
    wait_until(lambda: updates_written(folder) >= enough, process)
    time.sleep(moments.uniform(0, 0.02))


def evaluating(moments: random.Random, folder: Path, process: Popen[str], life: float) -> None:
    """After the line of an update that is due to be evaluated and saved."""
    due = updates_saved(folder) + INTERVAL * moments.randint(1, 2)
    wait_until(lambda: updates_written(folder) == due, process)


def saving(moments: random.Random, folder: Path, process: Popen[str], life: float) -> None:
    """While a file is unfinished."""
    left = unfinished_files(folder)
    wait_until(lambda: any(file not in left for file in unfinished_files(folder)), process)


AIMS: dict[str, Aim] = {
    "anywhere": anywhere,
    "learning": learning,
    "evaluating": evaluating,
    "saving": saving,
}


def test_a_killed_run_ends_with_the_same_bits(tmp_path, undisturbed, count, figure):
    whole, life = undisturbed.run, undisturbed.training
    moments, aims, wanted = random.Random(7), list(AIMS), count(100, 4)
    kills, torn, lost, runs = Counter(), 0, 0, 0
    while sum(kills.values()) < wanted:
        folder, runs = tmp_path / str(runs), runs + 1
        cache = tmp_path / f"cache-{runs}" if runs % COMPILING_RUNS == 0 else None
        for _ in range(KILLS_PER_RUN):
            if sum(kills.values()) == wanted or (folder / "done.json").exists():
                break
            aim = aims[sum(kills.values()) % len(aims)]
            process = start(train_words(folder), cache)
            AIMS[aim](moments, folder, process, life)
            if killed(process):
                kills[aim] += 1
                torn += bool(unfinished_files(folder))
                lost = max(lost, updates_written(folder) - updates_saved(folder))
        finish(train_words(folder))
        assert digests(folder) == digests(whole)
        assert evaluations(folder) == evaluations(whole)
        assert [line["update"] for line in read_lines(folder / "metrics.jsonl")] == [*range(1, UPDATES + 1)]
        assert not unfinished_files(folder / "checkpoint")
    assert lost <= INTERVAL
    aimed = ", ".join(f"{number} {name}" for name, number in kills.items())
    happened = (
        "all continue to the same bits, no line of metrics missing or twice "
        f"({aimed}; {torn} left an unfinished file)"
    )
    figure("kill -9 of a run", wanted, happened, f"{lost} updates lost, a checkpoint every {INTERVAL}")


def test_a_killed_run_with_a_full_replay_ends_with_the_same_bits(tmp_path, count, figure):
    whole, wanted, kills, runs = tmp_path / "whole", count(20, 3), 0, 0
    finish(replayed_words(whole))
    moments = random.Random(9)
    while kills < wanted:
        runs += (tmp_path / str(runs) / "done.json").exists()
        folder = tmp_path / str(runs)
        process = start(replayed_words(folder))
        learning(moments, folder, process, 0.0)
        kills += killed(process)
        if updates_saved(folder) > 2 * CAPACITY or kills == wanted:
            finish(replayed_words(folder))
            assert digests(folder) == digests(whole)
    assert len(list((folder / "replay").glob("*.safetensors"))) >= CAPACITY
    figure("kill -9 of a run with a replay", wanted, "all continue to the same bits", "0 bits differ")


def killed(process: Popen[str]) -> bool:
    """Kill a process; whether it still ran."""
    process.kill()
    process.communicate()
    return process.returncode == -signal.SIGKILL


def evaluations(folder: Path) -> bytes:
    return (folder / "evaluations.jsonl").read_bytes()


def test_a_killed_evaluation_is_made_anew_with_the_same_scores(tmp_path, undisturbed, count, figure):
    whole, life = undisturbed.run, undisturbed.evaluating
    moments, wanted, kills = random.Random(8), count(10, 1), 0
    folder = unscored_copy(whole, tmp_path / "run")
    while kills < wanted:
        process = start(evaluate_words(folder))
        time.sleep(moments.uniform(0, life))
        kills += killed(process)
    finish(evaluate_words(folder))
    for name in ("scores.csv", "evaluation.json"):
        assert (folder / name).read_bytes() == (whole / name).read_bytes()
    figure("kill -9 of an evaluation", wanted, "made anew, the same scores", "0 bits differ")
