"""A study whose workers are killed at random: every job is done once, as if nothing had happened."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path
from subprocess import Popen

import pytest

from pc3d.jobs.study import Job, load_study
from pc3d.runs.metrics import read_lines
from tests.faults.tiny_runs import children_of, start, write_study
from tests.runs.runs import done_here, results

HOURS = 3600


@pytest.mark.slow  # make test kills the whole study: tests/jobs/test_study.py
def test_jobs_whose_workers_are_killed_are_done_once_each_with_the_same_results(
    tmp_path, undisturbed, count, figure
):
    number = count(100, 2)
    file, folder = tmp_path / "study.toml", tmp_path / "study"
    write_study(file, number)
    jobs = load_study(str(file)).jobs(folder)
    process = start(["study", str(file), "--folder", str(folder), "--workers", "2"])
    wanted = number * 3 // 10 or 1
    killed = kill_workers(process, jobs, wanted, 0.8 * undisturbed.training)
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    assert len(killed) == wanted
    for job in jobs:
        assert results(job.folder) == results(done_here(job, tmp_path / "undisturbed"))
        assert len(read_lines(job.folder / "clock.jsonl")) == 1  # which each training that ends writes
    happened = f"{len(killed)} workers killed, each job done once, the same results"
    figure("jobs of a study whose workers are killed", number, happened, "0 bits differ")


def kill_workers(study: Popen[str], jobs: list[Job], number: int, longest: float) -> set[str]:
    """Kill a worker of so many jobs, in training or evaluation, and tell of which."""
    moments = random.Random(11)
    in_reserve = number // 5 + 1  # some are done before their moment
    chosen = {
        (str(job.folder), moments.choice(["train", "evaluate"])): moments.uniform(0, longest)
        for job in moments.sample(jobs, number + in_reserve)
    }
    killed: set[str] = set()
    seen: dict[int, float] = {}
    deadline = time.monotonic() + 3 * HOURS
    while study.poll() is None:
        assert time.monotonic() < deadline
        for worker in children_of(study.pid):
            began = seen.setdefault(worker, time.monotonic())
            folder, command = work_of(worker)
            wait = chosen.get((folder, command), float("inf"))
            if time.monotonic() - began >= wait and folder not in killed and len(killed) < number:
                os.kill(worker, signal.SIGKILL)
                killed.add(folder)
        time.sleep(0.02)
    return killed


def work_of(worker: int) -> tuple[str, str]:
    """The folder a worker works in, and its command."""
    try:
        words = Path(f"/proc/{worker}/cmdline").read_text().split("\0")
    except (FileNotFoundError, ProcessLookupError):  # it has just ended
        return "", ""
    command = next((word for word in words if word in ("train", "evaluate")), "")
    before = {"train": "--folder", "evaluate": "evaluate"}.get(command)
    return (words[words.index(before) + 1], command) if before else ("", "")
