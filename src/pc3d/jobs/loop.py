"""The loop that sees jobs done: start what waits, see what has ended, try again what failed.

Studies, searches and the demo have their jobs done by it; who does the work is a workforce.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

from pc3d.system.errors import BadInput, Diverged, Interrupted
from pc3d.system.signals import stop_signals

ATTEMPTS = 3  # without a new checkpoint in between
SECONDS_BETWEEN_ATTEMPTS = 5.0  # a worker that is still ending holds its folder that long at most
SECONDS_BETWEEN_LOOKS = 0.2
STOPPED = "is stopped and everything is saved; the same command continues"


class Job(Protocol):
    """Something that one command after the other brings to its end."""

    @property
    def name(self) -> str: ...

    @property
    def errors(self) -> Path:
        """Where its commands complain."""

    @property
    def doing(self) -> State:
        """What its next command does."""

    def next_words(self) -> list[str]:
        """The next command; nothing when all is done."""

    def place(self) -> str:
        """How far it is: only failures at the same place count."""


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

    def start(self, job: Any) -> Work:
        """Begin the job's next command."""


class State(Enum):
    WAITING = "waiting"
    TRAINING = "training"
    EVALUATING = "evaluating"
    DONE = "done"
    FAILED = "failed"


ENDED = (State.DONE, State.FAILED)


@dataclass
class Progress:
    """How one job is doing."""

    job: Any
    state: State = State.WAITING
    doing: State = State.TRAINING
    """Its state once the command that was started last has begun."""
    words: list[str] = field(default_factory=list)
    """That command."""
    attempts: int = 0
    failed_at: str | None = None
    """The newest checkpoint there was when it failed last."""
    error: str = ""
    code: int = 0
    """Of the command that ended last."""
    not_before: float = 0.0
    work: Work | None = field(default=None, repr=False)

    @property
    def ready(self) -> bool:
        return self.state is State.WAITING and self.work is None and time.monotonic() >= self.not_before


class Source(ABC):
    """Where jobs come from, and who wants to know how they are doing."""

    title = "the study"

    @abstractmethod
    def more(self) -> Progress | None:
        """The next job to begin; None if there is none now."""

    @abstractmethod
    def over(self) -> bool:
        """Whether nothing is left to begin or to wait for."""

    @abstractmethod
    def looked(self) -> None:
        """All jobs have been looked at once more."""

    def hopeless(self, progress: Progress) -> bool:
        """Whether a job that is under way should be given up."""
        del progress
        return False

    def ended(self, progress: Progress) -> None:
        """A job is done, or has failed for good."""
        del progress


def see_to(source: Source, workforce: Workforce) -> None:
    """Have every job of a source done; jobs that were stopped continue where they were."""
    begun: list[Progress] = []
    with stop_signals() as stop:
        try:
            while not source.over():
                for progress in begun:
                    _attend(progress, source)
                begun = [progress for progress in begun if progress.state not in ENDED]
                _begin(begun, source, workforce)
                source.looked()
                if stop.asked:
                    raise Interrupted(f"{source.title} {STOPPED}")
                time.sleep(SECONDS_BETWEEN_LOOKS)
        finally:  # whatever went wrong, no run goes on alone
            _stop(begun)
    source.looked()


def run_jobs(jobs: list[Any], workforce: Workforce, show: Callable[[list[Progress]], None]) -> list[Progress]:
    """Do every one of these jobs that is not done yet."""
    source = _Listed([Progress(job, State.WAITING if job.next_words() else State.DONE) for job in jobs], show)
    see_to(source, workforce)
    return source.all


class _Listed(Source):
    """Jobs that are all known from the beginning."""

    def __init__(self, jobs: list[Progress], show: Callable[[list[Progress]], None]) -> None:
        self.all, self.show = jobs, show
        self.left = [progress for progress in jobs if progress.state not in ENDED]

    def more(self) -> Progress | None:
        return self.left.pop(0) if self.left else None

    def over(self) -> bool:
        return all(progress.state in ENDED for progress in self.all)

    def looked(self) -> None:
        self.show(self.all)


def _begin(begun: list[Progress], source: Source, workforce: Workforce) -> None:
    """Give every free place to a job that can go on, or to a new one."""
    free = workforce.places() - sum(progress.work is not None for progress in begun)
    for _ in range(free):
        ready = next((progress for progress in begun if progress.ready), None)
        if ready is None and (ready := source.more()):
            begun.append(ready)
        if ready is None:
            return
        _start(ready, source, workforce)


def _start(progress: Progress, source: Source, workforce: Workforce) -> None:
    progress.doing, progress.words = progress.job.doing, progress.job.next_words()
    if not progress.words:  # a trial that was scored before its search was killed
        progress.state = State.DONE
        source.ended(progress)
        return
    try:
        progress.work = workforce.start(progress.job)
    except BadInput as error:
        _note_failure(progress, source, error.exit_code, str(error))


def _attend(progress: Progress, source: Source) -> None:
    """See whether a job's command has ended, and what comes next."""
    if progress.work is None:
        return
    if source.hopeless(progress):
        _stop([progress])
        progress.state, progress.work = State.FAILED, None
        return
    code = progress.work.poll()
    if code is None:
        if progress.work.begun:
            progress.state = progress.doing
        return
    work, progress.work, progress.code = progress.work, None, code
    if code == 0 and not progress.job.next_words():
        progress.state = State.DONE
        source.ended(progress)
    elif code == 0 and progress.job.next_words() != progress.words:
        progress.state = State.WAITING
    else:  # also one that ended well and left its work undone
        _note_failure(progress, source, code, work.complaint())


def _note_failure(progress: Progress, source: Source, code: int, error: str) -> None:
    """Only failures on the same spot count: a job that advances may lose any number of machines."""
    progress.error, progress.code = error, code
    progress.not_before = time.monotonic() + SECONDS_BETWEEN_ATTEMPTS
    if code != Interrupted.exit_code:
        place = progress.job.place()
        progress.attempts = progress.attempts + 1 if place == progress.failed_at else 1
        progress.failed_at = place
    hopeless = code == Diverged.exit_code or progress.attempts >= ATTEMPTS
    progress.state = State.FAILED if hopeless else State.WAITING
    if hopeless:
        source.ended(progress)


def _stop(begun: list[Progress]) -> None:
    under_way = [progress.work for progress in begun if progress.work is not None]
    for work in under_way:
        work.stop()
    while under_way:
        under_way = [work for work in under_way if work.poll() is None]
        time.sleep(0.1 if under_way else 0)


def newest_checkpoint(folder: Path) -> str:
    """By its name; nothing if there is none."""
    return max((path.name for path in (folder / "checkpoint").glob("[0-9]*.safetensors")), default="")
