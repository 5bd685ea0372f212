"""The search: trials side by side, one process each, until there are enough in all."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pc3d.jobs.loop import ATTEMPTS, SECONDS_BETWEEN_ATTEMPTS
from pc3d.jobs.tuning.database import TakenOver
from pc3d.jobs.tuning.plan import Plan
from pc3d.jobs.tuning.records import TrialRecord
from pc3d.jobs.tuning.storage import Storage
from pc3d.jobs.tuning.trial_folder import TrialFolder
from pc3d.presets.paper import sealed, usual_experiment
from pc3d.presets.preset_file import write_preset
from pc3d.system.errors import BadInput, Diverged, Interrupted
from pc3d.system.imports import is_import_path
from pc3d.system.processes import last_words, start_worker
from pc3d.system.signals import stop_signals

SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_BETWEEN_COUNTS = 5.0  # of the trials of other machines
FAILURES_IN_A_ROW = 3


@dataclass
class Running:
    """A trial of this machine on its way."""

    record: TrialRecord
    folder: TrialFolder
    worker: subprocess.Popen[bytes] | None = None
    attempts: int = 0
    not_before: float = 0.0
    seen: int = 0
    """Evaluations already reported."""


@dataclass
class Search:
    """One machine's part of a search."""

    plan: Plan
    storage: Storage
    folder: Path
    trials: int
    workers: int
    show: Callable[[list[TrialRecord], list[Running]], None]
    own_words: tuple[str, ...] = ()
    """For trials on an own task: its name, from the user's own words, and how it is stepped."""
    running: list[Running] = field(default_factory=list)
    records: list[TrialRecord] = field(default_factory=list)
    next_count: float = 0.0
    failures: int = 0

    def until_done(self) -> list[TrialRecord]:
        """Search until there are as many trials as asked for, on all machines together."""
        self.running = [self._prepared(record) for record in self.storage.adopt()]
        with stop_signals() as stop:
            try:
                while not self._done():
                    for running in list(self.running):
                        self._attend(running)
                    self._begin_more()
                    self.storage.heartbeat()
                    self.show(self.records, self.running)
                    if stop.asked:
                        raise Interrupted(
                            "the search is stopped and everything is saved; the same command continues"
                        )
                    time.sleep(SECONDS_BETWEEN_LOOKS)
            finally:
                _stop([running.worker for running in self.running if running.worker is not None])
        self.show(self.records, self.running)
        return self.records

    def _done(self) -> bool:
        self._count()
        return not self.running and sum(record.ended for record in self.records) >= self.trials

    def _count(self, *, now: bool = False) -> None:
        if now or time.monotonic() >= self.next_count:
            self.records = self.storage.records()
            self.next_count = time.monotonic() + SECONDS_BETWEEN_COUNTS

    def _room(self) -> bool:
        """Whether another trial should begin; one that waits, since its machine was lost, has not begun."""
        return sum(record.state != "waiting" for record in self.records) < self.trials

    def _begin_more(self) -> None:
        while len(self.running) < self.workers and self._room():
            self.running.append(self._prepared(self.storage.claim()))
            self._count(now=True)

    def _prepared(self, record: TrialRecord) -> Running:
        folder = TrialFolder(self.folder / "trials" / f"{record.number:04d}")
        folder.path.mkdir(parents=True, exist_ok=True)
        write_preset(folder.preset, self.plan.preset_of(record.settings))
        if is_import_path(self.plan.base.task):
            folder.write_own_task(sealed(usual_experiment(self.plan.base)))
        return Running(record, folder)

    def _attend(self, running: Running) -> None:
        try:
            if self._hopeless(running):
                self.storage.give_up(running.record.number, "behind the others")
                self._drop(running)
            elif running.worker is not None and running.worker.poll() is not None:
                self._ended(running, running.worker.returncode)
            elif running.worker is None and time.monotonic() >= running.not_before:
                running.worker = self._start(running)
        except TakenOver:
            self._drop(running)

    def _start(self, running: Running) -> subprocess.Popen[bytes]:
        budget = self.plan.budget
        amounts = {"episodes": budget.episodes, "seeds": budget.seed_count, "rollouts": budget.rollouts}
        options = [word for name, amount in amounts.items() for word in (f"--{name}", str(amount))]
        words = ["tune", "trial", str(running.folder.path), *options, *self.own_words]
        return start_worker(words, running.folder.errors)

    def _hopeless(self, running: Running) -> bool:
        """Pass new evaluations on, and say whether the trial should be given up for them."""
        reports = running.folder.reports(self.plan.budget, self.plan.base.rosters.validation)
        if len(reports) <= running.seen:
            return False
        running.seen = len(reports)
        hopeless = self.storage.report(running.record.number, reports)
        # At the end, the score is nearer than the saving.
        return hopeless and reports[-1].step < self.plan.budget.last_step

    def _ended(self, running: Running, code: int) -> None:
        running.worker = None
        number, score = running.record.number, running.folder.score()
        if code == 0 and score is not None:
            self.storage.finish(number, score)
            self.failures = 0
        elif code == Diverged.exit_code:
            self.storage.give_up(number, "diverged")
        else:
            running.attempts += 1
            running.not_before = time.monotonic() + SECONDS_BETWEEN_ATTEMPTS
            if running.attempts < ATTEMPTS:
                return
            self._failed(running, last_words(running.folder.errors, code))
        self._drop(running)

    def _failed(self, running: Running, reason: str) -> None:
        self.storage.fail(running.record.number, reason)
        self.failures += 1
        if self.failures >= FAILURES_IN_A_ROW:
            raise BadInput(f"{self.failures} trials failed one after another, the last one with: {reason}")

    def _drop(self, running: Running) -> None:
        """Forget a trial that has ended; a worker that still runs has nothing more to give."""
        if running.worker is not None:
            running.worker.kill()
            running.worker.wait()
        self.running.remove(running)
        self._count(now=True)


def _stop(workers: list[subprocess.Popen[bytes]]) -> None:
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.wait()
