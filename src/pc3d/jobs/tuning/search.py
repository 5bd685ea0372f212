"""The search: trials side by side, one process each, until there are enough in all."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pc3d.jobs.local import ThisMachine
from pc3d.jobs.loop import Progress, Source, State, newest_checkpoint, see_to
from pc3d.jobs.tuning.database import TakenOver
from pc3d.jobs.tuning.plan import Plan
from pc3d.jobs.tuning.storage import Storage
from pc3d.jobs.tuning.trial_folder import Budget, TrialFolder, TrialRecord
from pc3d.presets.paper import sealed, usual_experiment
from pc3d.presets.preset_file import write_preset
from pc3d.system.errors import BadInput, Diverged
from pc3d.system.imports import is_import_path

SECONDS_BETWEEN_COUNTS = 5.0  # of the trials of other machines
FAILURES_IN_A_ROW = 3


@dataclass
class Trial:
    """A trial of this machine, as a job: one command trains and scores it."""

    record: TrialRecord
    folder: TrialFolder
    budget: Budget
    own_words: tuple[str, ...] = ()
    seen: int = 0
    """Evaluations already reported."""
    doing: State = State.TRAINING

    @property
    def name(self) -> str:
        return f"trial {self.record.number}"

    @property
    def errors(self) -> Path:
        return self.folder.errors

    def next_words(self) -> list[str]:
        if self.folder.score() is not None:
            return []
        return ["tune", "trial", str(self.folder.path), *self.budget.words, *self.own_words]

    def place(self) -> str:
        return " ".join(newest_checkpoint(self.folder.seed(seed)) for seed in self.budget.seeds)


@dataclass
class Search(Source):
    """One machine's part of a search: where the loop's jobs come from."""

    plan: Plan
    storage: Storage
    folder: Path
    trials: int
    workers: int
    show: Callable[[list[TrialRecord], list[Trial]], None]
    own_words: tuple[str, ...] = ()
    """For trials on an own task: its name, from the user's own words, and how it is stepped."""
    title: str = "the search"
    running: list[Trial] = field(default_factory=list)
    adopted: list[Trial] = field(default_factory=list)
    records: list[TrialRecord] = field(default_factory=list)
    next_count: float = 0.0
    failures: int = 0

    def until_done(self) -> list[TrialRecord]:
        """Search until there are as many trials as asked for, on all machines together."""
        self.adopted = [self._prepared(record) for record in self.storage.adopt()]
        see_to(self, ThisMachine(self.workers))
        return self.records

    def over(self) -> bool:
        self._count()
        busy = self.running or self.adopted
        return not busy and sum(record.ended for record in self.records) >= self.trials

    def more(self) -> Progress | None:
        """What this folder's last search left running, then what the storage proposes while there is room."""
        # One that waits, since its machine was lost, has not begun.
        begun = [record for record in self.records if record.state != "waiting"]
        if self.adopted:
            trial = self.adopted.pop(0)
        elif len(self.running) < self.workers and len(begun) < self.trials:
            trial = self._prepared(self.storage.claim())
            self._count(now=True)
        else:
            return None
        self.running.append(trial)
        return Progress(trial)

    def hopeless(self, progress: Progress) -> bool:
        """Pass new evaluations on, and say whether the trial should be given up for them."""
        trial, plan = progress.job, self.plan
        with contextlib.suppress(TakenOver):
            reports = trial.folder.reports(plan.budget, plan.base.rosters.validation)
            if len(reports) <= trial.seen:
                return False
            trial.seen = len(reports)
            behind = self.storage.report(trial.record.number, reports)
            # At the end, the score is nearer than the saving.
            if not behind or max(reports) >= plan.budget.last_step:
                return False
            self.storage.give_up(trial.record.number, "behind the others")
        self._drop(trial)
        return True

    def ended(self, progress: Progress) -> None:
        trial = progress.job
        number, score = trial.record.number, trial.folder.score()
        with contextlib.suppress(TakenOver):
            if progress.state is State.DONE and score is not None:
                self.storage.finish(number, score)
                self.failures = 0
            elif progress.code == Diverged.exit_code:
                self.storage.give_up(number, "diverged")
            else:
                self.storage.give_up(number, progress.error, failed=True)
                self.failures += 1
        if self.failures >= FAILURES_IN_A_ROW:
            raise BadInput(
                f"{self.failures} trials failed one after another, the last one with: {progress.error}"
            )
        self._drop(trial)

    def looked(self) -> None:
        self.storage.heartbeat()
        self.show(self.records, self.running)

    def _drop(self, trial: Trial) -> None:
        self.running.remove(trial)
        self._count(now=True)

    def _count(self, *, now: bool = False) -> None:
        if now or time.monotonic() >= self.next_count:
            self.records = self.storage.records()
            self.next_count = time.monotonic() + SECONDS_BETWEEN_COUNTS

    def _prepared(self, record: TrialRecord) -> Trial:
        folder = TrialFolder(self.folder / "trials" / f"{record.number:04d}")
        folder.path.mkdir(parents=True, exist_ok=True)
        write_preset(folder.preset, self.plan.preset_of(record.settings))
        if is_import_path(self.plan.base.task):
            folder.write_own_task(sealed(usual_experiment(self.plan.base)))
        return Trial(record, folder, self.plan.budget, self.own_words)
