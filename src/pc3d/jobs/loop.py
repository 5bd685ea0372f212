"""The loop over a study's jobs: start what waits, see what has ended, try again what failed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Protocol

from pc3d.jobs.study import Job
from pc3d.system.errors import BadInput, Diverged, Interrupted

ATTEMPTS = 3  # without a new checkpoint in between
SECONDS_BETWEEN_ATTEMPTS = 5.0  # a worker that is still ending holds its folder that long at most


class Work(Protocol):
    """A job's next command (train or evaluate), under way somewhere."""

    @property
    def begun(self) -> bool:
        """Whether it runs already, or still waits for a place."""

    def poll(self) -> int | None:
        """The command's exit code, once it has ended."""

    def stop(self) -> None:
        """Ask it to save and end."""

    def complaint(self) -> str:
        """What went wrong, in one sentence, after it has ended."""


class Workforce(Protocol):
    """Who does the work: this machine or a cluster."""

    def places(self) -> int:
        """How many jobs may be under way at a time."""

    def start(self, job: Job) -> Work:
        """Begin the job's next command."""


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
    doing: State = State.TRAINING
    """Its state once the command that was started last has begun."""
    attempts: int = 0
    failed_at: str | None = None
    """The newest checkpoint there was when it failed last."""
    error: str = ""
    not_before: float = 0.0
    work: Work | None = field(default=None, repr=False)

    @property
    def ready(self) -> bool:
        return self.state is State.WAITING and self.work is None and time.monotonic() >= self.not_before


def run_jobs(jobs: list[Job], workforce: Workforce, show: Callable[[list[Progress]], None]) -> list[Progress]:
    """Do every job that is not done yet; jobs that were stopped continue where they were."""
    all_progress = [Progress(job, State.DONE if job.done else State.WAITING) for job in jobs]
    try:
        while any(progress.state not in (State.DONE, State.FAILED) for progress in all_progress):
            for progress in all_progress:
                _attend(progress)
            free = workforce.places() - sum(progress.work is not None for progress in all_progress)
            for progress in [progress for progress in all_progress if progress.ready][: max(free, 0)]:
                _start(progress, workforce)
            show(all_progress)
            time.sleep(0.2)
    except KeyboardInterrupt:
        raise Interrupted(
            "the study is stopped and everything is saved; the same command continues"
        ) from None
    finally:  # whatever went wrong, no run goes on alone
        _stop(all_progress)
    show(all_progress)
    return all_progress


def _start(progress: Progress, workforce: Workforce) -> None:
    progress.doing = State.EVALUATING if progress.job.trained else State.TRAINING
    try:
        progress.work = workforce.start(progress.job)
    except BadInput as error:
        _note_failure(progress, error.exit_code, str(error))


def _attend(progress: Progress) -> None:
    """See whether a job's command has ended, and what comes next."""
    if progress.work is None:
        return
    code = progress.work.poll()
    if code is None:
        if progress.work.begun:
            progress.state = progress.doing
        return
    work, progress.work = progress.work, None
    if code == 0:
        progress.state = State.DONE if progress.job.done else State.WAITING
    else:
        _note_failure(progress, code, work.complaint())


def _note_failure(progress: Progress, code: int, error: str) -> None:
    """Only failures on the same spot count: a job that advances may lose any number of machines."""
    progress.error = error
    progress.not_before = time.monotonic() + SECONDS_BETWEEN_ATTEMPTS
    if code != Interrupted.exit_code:
        place = _newest_checkpoint(progress.job)
        progress.attempts = progress.attempts + 1 if place == progress.failed_at else 1
        progress.failed_at = place
    hopeless = code == Diverged.exit_code or progress.attempts >= ATTEMPTS
    progress.state = State.FAILED if hopeless else State.WAITING


def _newest_checkpoint(job: Job) -> str:
    return max((path.name for path in (job.folder / "checkpoint").glob("[0-9]*.safetensors")), default="")


def _stop(all_progress: list[Progress]) -> None:
    under_way = [progress.work for progress in all_progress if progress.work is not None]
    for work in under_way:
        work.stop()
    while under_way:
        under_way = [work for work in under_way if work.poll() is None]
        time.sleep(0.1)


def default_folder(name: str) -> Path:
    return Path("runs", "studies", Path(name).stem)
