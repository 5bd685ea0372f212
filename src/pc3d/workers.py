"""A study's jobs on this machine: one single-thread process each, as many at a time as there are cores."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from pc3d.errors import Interrupted
from pc3d.processes import END_WITH_PARENT
from pc3d.study import Job

ATTEMPTS = 3
FINAL_EXIT_CODES = (2, 3)  # bad input and divergence: the same again would end the same


class State(Enum):
    WAITING = "waiting"
    TRAINING = "training"
    EVALUATING = "evaluating"
    DONE = "done"
    FAILED = "failed"


@dataclass
class Progress:
    """How one job is doing."""

    job: Job
    state: State = State.WAITING
    attempts: int = 0
    error: str = ""
    worker: subprocess.Popen[str] | None = field(default=None, repr=False)


def run_jobs(jobs: list[Job], workers: int, show: Callable[[list[Progress]], None]) -> list[Progress]:
    """Do every job that is not done yet; jobs that were stopped continue where they were."""
    all_progress = [Progress(job, State.DONE if job.done else State.WAITING) for job in jobs]
    try:
        while any(progress.state not in (State.DONE, State.FAILED) for progress in all_progress):
            for progress in all_progress:
                _attend(progress)
            free = workers - sum(progress.worker is not None for progress in all_progress)
            waiting = (progress for progress in all_progress if progress.state is State.WAITING)
            for progress, _ in zip(waiting, range(free), strict=False):
                _start(progress)
            show(all_progress)
            time.sleep(0.2)
    except KeyboardInterrupt:
        _stop(all_progress)
        raise Interrupted(
            "the study is stopped and everything is saved; the same command continues"
        ) from None
    show(all_progress)
    return all_progress


def _attend(progress: Progress) -> None:
    """See whether a job's process has ended, and what comes next."""
    if progress.worker is None or progress.worker.poll() is None:
        return
    code, errors = progress.worker.returncode, progress.worker.communicate()[1]
    progress.worker = None
    if code == 0:
        progress.state = State.DONE if progress.job.done else State.WAITING
        return
    progress.error = errors.strip().splitlines()[-1] if errors.strip() else f"ended with code {code}"
    progress.attempts += 1
    final = code in FINAL_EXIT_CODES and "another process" not in progress.error
    progress.state = State.FAILED if final or progress.attempts >= ATTEMPTS else State.WAITING


def _start(progress: Progress) -> None:
    job = progress.job
    progress.state = State.EVALUATING if job.trained else State.TRAINING
    words = job.evaluate_words if job.trained else job.train_words
    progress.worker = subprocess.Popen(
        [sys.executable, "-m", "pc3d", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, END_WITH_PARENT: "yes"},
    )


def _stop(all_progress: list[Progress]) -> None:
    workers = [progress.worker for progress in all_progress if progress.worker is not None]
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.wait()


def default_folder(name: str) -> Path:
    return Path("runs", "studies", Path(name).stem)
