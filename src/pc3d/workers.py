"""A study's jobs on this machine: one single-thread process each, as many at a time as there are cores."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from pc3d.errors import Diverged, Interrupted
from pc3d.processes import last_words, start_worker
from pc3d.study import Job

ATTEMPTS = 3
SECONDS_BETWEEN_ATTEMPTS = 5.0  # a worker that is still ending holds its folder that long at most


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
    not_before: float = 0.0
    worker: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def ready(self) -> bool:
        return self.state is State.WAITING and time.monotonic() >= self.not_before


def run_jobs(jobs: list[Job], workers: int, show: Callable[[list[Progress]], None]) -> list[Progress]:
    """Do every job that is not done yet; jobs that were stopped continue where they were."""
    all_progress = [Progress(job, State.DONE if job.done else State.WAITING) for job in jobs]
    try:
        while any(progress.state not in (State.DONE, State.FAILED) for progress in all_progress):
            for progress in all_progress:
                _attend(progress)
            free = workers - sum(progress.worker is not None for progress in all_progress)
            for progress in [progress for progress in all_progress if progress.ready][:free]:
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
    code, progress.worker = progress.worker.returncode, None
    if code == 0:
        progress.state = State.DONE if progress.job.done else State.WAITING
        return
    progress.error = last_words(progress.job.errors, code)
    progress.attempts += 1
    progress.not_before = time.monotonic() + SECONDS_BETWEEN_ATTEMPTS
    hopeless = code == Diverged.exit_code or progress.attempts >= ATTEMPTS
    progress.state = State.FAILED if hopeless else State.WAITING


def _start(progress: Progress) -> None:
    job = progress.job
    progress.state = State.EVALUATING if job.trained else State.TRAINING
    progress.worker = start_worker(job.evaluate_words if job.trained else job.train_words, job.errors)


def _stop(all_progress: list[Progress]) -> None:
    workers = [progress.worker for progress in all_progress if progress.worker is not None]
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.wait()


def default_folder(name: str) -> Path:
    return Path("runs", "studies", Path(name).stem)
