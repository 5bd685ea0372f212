"""The search's memory: trials in a database, through Optuna. Many machines may share one.

Nothing that is read from it can run: the tables hold numbers, text and JSON, the sampler is never stored, and
what a trial tried is taken only if this search's table has it.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from typing import TYPE_CHECKING

import optuna
from optuna.exceptions import DuplicatedStudyError
from optuna.trial import TrialState

from pc3d.jobs.tuning.database import SECONDS_BETWEEN_HEARTBEATS, explained_refusals, open_database
from pc3d.jobs.tuning.plan import Plan, first_difference
from pc3d.jobs.tuning.records import TrialRecord
from pc3d.jobs.tuning.space import read, stored, suggested
from pc3d.jobs.tuning.trial_folder import Report, Score
from pc3d.system.errors import BadInput

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

ENOUGH_FOR_IMPORTANCES = 10  # scored trials; fewer say nothing
STATES = {
    TrialState.COMPLETE: "done",
    TrialState.PRUNED: "given up",
    TrialState.FAIL: "failed",
    TrialState.RUNNING: "running",
    TrialState.WAITING: "waiting",
}


class Storage:
    """One search in a database, seen from one search folder."""

    def __init__(self, url: str, name: str, plan: Plan, folder_id: str) -> None:
        self.plan, self.folder_id = plan, folder_id
        self.running: dict[int, optuna.trial.Trial] = {}
        self.next_heartbeat = 0.0
        optuna.logging.set_verbosity(optuna.logging.CRITICAL)
        with explained_refusals():
            self.database = open_database(url)
            self.study = self._study(name)
            self._refuse_another_search()
            if not self.study.trials:  # the first trial is the base itself, so no winner is worse than it
                self.study.enqueue_trial(stored(plan.base, plan.rows))

    def records(self) -> list[TrialRecord]:
        """Every trial that counts: not those that were lost with their machine and tried again."""
        with explained_refusals():
            trials = self.study.get_trials(deepcopy=False)
            again = {trial.user_attrs.get("again") for trial in trials}
            return [
                self._record(trial)
                for trial in trials
                if trial.number not in again
                and ("folder" in trial.user_attrs or trial.state is TrialState.WAITING)
            ]

    def claim(self) -> TrialRecord:
        """A new trial for this folder: one that a lost machine left, or what the sampler proposes."""
        with explained_refusals():
            trial = self.study.ask()
            # Until the folder is written down, a trial counts for nobody: dying in between does no harm.
            trial.set_user_attr("folder", self.folder_id)
            self.study.sampler = self._sampler(trial.number)
            suggested(trial, self.plan.rows)
            return self._take(trial)

    def adopt(self) -> list[TrialRecord]:
        """The trials that this folder's last search left running; they go on under their numbers."""
        with explained_refusals():
            mine = [
                trial
                for trial in self.study.get_trials(states=(TrialState.RUNNING,))
                if trial.user_attrs.get("folder") == self.folder_id
            ]
            adopted = []
            for frozen in mine:
                # Optuna has no public way back from a stored trial to one that can be reported on.
                trial = optuna.trial.Trial(self.study, frozen._trial_id)
                self.study.sampler = self._sampler(trial.number)
                suggested(trial, self.plan.rows)  # what was already proposed stays
                adopted.append(self._take(trial))
            return adopted

    def report(self, number: int, reports: list[Report]) -> bool:
        """Write down how a trial is doing, and say whether it should be given up."""
        with explained_refusals():
            trial = self.running[number]
            known = self.study.get_trials(deepcopy=False)[number].intermediate_values
            hopeless = False
            for report in reports:
                if report.step not in known:
                    trial.report(report.validation, report.step)
                    hopeless = trial.should_prune()
            return hopeless

    def finish(self, number: int, score: Score) -> None:
        with explained_refusals():
            trial = self.running.pop(number)
            trial.set_user_attr("train", score.train)
            self.study.tell(trial, score.validation)

    def give_up(self, number: int, note: str) -> None:
        """End a trial without a score; the sampler takes it for a bad one."""
        self._end(number, TrialState.PRUNED, note)

    def fail(self, number: int, note: str) -> None:
        """End a trial that says nothing about its settings."""
        self._end(number, TrialState.FAIL, note)

    def heartbeat(self) -> None:
        """Say that our trials live, and put those of machines that no longer say so in line again."""
        if time.monotonic() < self.next_heartbeat:
            return
        self.next_heartbeat = time.monotonic() + SECONDS_BETWEEN_HEARTBEATS
        with explained_refusals():
            for trial in self.running.values():
                self.database.record_heartbeat(trial._trial_id)
            optuna.storages.fail_stale_trials(self.study)

    def importances(self) -> dict[str, float]:
        """How much each setting mattered, in shares; empty if there is too little to say so."""
        if sum(record.score is not None for record in self.records()) < ENOUGH_FOR_IMPORTANCES:
            return {}
        with explained_refusals():
            evaluator = optuna.importance.PedAnovaImportanceEvaluator()  # the one that needs no other package
            return dict(optuna.importance.get_param_importances(self.study, evaluator=evaluator))

    def close(self) -> None:
        self.database.engine.dispose()

    def _study(self, name: str) -> optuna.Study:
        pruner = {
            "median": optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=2),
            "halving": optuna.pruners.SuccessiveHalvingPruner(min_resource=2, reduction_factor=2),
            "none": optuna.pruners.NopPruner(),
        }[self.plan.pruning]
        sampler = self._sampler(0)
        with contextlib.suppress(DuplicatedStudyError):
            return optuna.create_study(
                study_name=name, storage=self.database, sampler=sampler, pruner=pruner, direction="maximize"
            )
        return optuna.load_study(study_name=name, storage=self.database, sampler=sampler, pruner=pruner)

    def _sampler(self, number: int) -> optuna.samplers.BaseSampler:
        """A sampler for one trial: after a stop, the next draws are not those of the beginning again."""
        seed = (self.plan.sampler_seed * 1_000_003 + number) % 2**32
        return optuna.samplers.TPESampler(seed=seed, constant_liar=True)

    def _refuse_another_search(self) -> None:
        known = self.study.user_attrs.get("search")
        if known is None and not self.study.trials:
            self.study.set_user_attr("search", self.plan.identity)
            return
        if not isinstance(known, dict):
            raise BadInput(f"the storage holds a study {self.study.study_name!r} that pc3d tune did not make")
        difference = first_difference(known, self.plan.identity)
        if difference:
            raise BadInput(
                f"the storage holds another search by the name {self.study.study_name!r}: {difference}; "
                "use another --folder, --storage or --name, or ask for that search"
            )

    def _take(self, trial: optuna.trial.Trial) -> TrialRecord:
        self.running[trial.number] = trial
        self.database.record_heartbeat(trial._trial_id)
        return self._record(self.study.get_trials(deepcopy=False)[trial.number])

    def _record(self, trial: FrozenTrial) -> TrialRecord:
        settings = read(trial.params, self.plan.rows)
        if settings is None:
            if trial.state in (TrialState.COMPLETE, TrialState.PRUNED):
                raise BadInput(
                    f"the storage is damaged: trial {trial.number} tried what this search cannot try"
                )
            settings = {}
        train, score = trial.user_attrs.get("train"), None
        if trial.state is TrialState.COMPLETE and isinstance(train, float) and trial.value is not None:
            score = Score(train, trial.value)
        return TrialRecord(
            number=trial.number,
            state=STATES[trial.state],
            settings=settings,
            score=score,
            note=str(trial.user_attrs.get("note", "")),
        )

    def _end(self, number: int, state: TrialState, note: str) -> None:
        with explained_refusals():
            trial = self.running.pop(number)
            trial.set_user_attr("note", note)
            self.study.tell(trial, state=state)


def fresh_id() -> str:
    """A name that no other search folder has."""
    return uuid.uuid4().hex
