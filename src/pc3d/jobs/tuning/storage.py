"""The search's memory: trials in a database, through Optuna. Many machines may share one.

Nothing that is read from it can run: the tables hold numbers, text and JSON, the sampler is never stored, and
what a trial tried is taken only if this search's table has it.
"""

import contextlib
import time
import uuid
from pathlib import Path

import optuna
from optuna.exceptions import DuplicatedStudyError
from optuna.trial import FrozenTrial, TrialState

from pc3d.jobs.tuning.database import SECONDS_BETWEEN_HEARTBEATS, explained_refusals, open_database
from pc3d.jobs.tuning.plan import Plan, refuse_another
from pc3d.jobs.tuning.space import read, stored
from pc3d.jobs.tuning.trial_folder import Score, TrialRecord
from pc3d.system.checked_json import read_checked, write_checked
from pc3d.system.errors import BadInput

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
            claimed = [one for one in trials if "folder" in one.user_attrs or one.state is TrialState.WAITING]
            return [self._record(trial) for trial in claimed if trial.number not in again]

    def claim(self) -> TrialRecord:
        """A new trial for this folder: one that a lost machine left, or what the sampler proposes."""
        with explained_refusals():
            trial = self.study.ask()
            # Until the folder is written down, a trial counts for nobody: dying in between does no harm.
            trial.set_user_attr("folder", self.folder_id)
            return self._take(trial)

    def adopt(self) -> list[TrialRecord]:
        """The trials that this folder's last search left running; they go on under their numbers."""
        with explained_refusals():
            running = self.study.get_trials(states=(TrialState.RUNNING,))
            mine = [trial for trial in running if trial.user_attrs.get("folder") == self.folder_id]
            # Optuna has no public way back from a stored trial to one that can be reported on.
            return [self._take(optuna.trial.Trial(self.study, trial._trial_id)) for trial in mine]

    def report(self, number: int, reports: dict[int, float]) -> bool:
        """Write down how a trial is doing, by steps, and say whether it should be given up."""
        with explained_refusals():
            trial = self.running[number]
            known = self.study.get_trials(deepcopy=False)[number].intermediate_values
            hopeless = False
            for step in sorted(reports.keys() - known.keys()):
                trial.report(reports[step], step)
                hopeless = trial.should_prune()
            return hopeless

    def finish(self, number: int, score: Score) -> None:
        with explained_refusals():
            trial = self.running.pop(number)
            trial.set_user_attr("train", score.train)
            self.study.tell(trial, score.validation)

    def give_up(self, number: int, note: str, *, failed: bool = False) -> None:
        """End a trial without a score: the sampler takes it for a bad one, unless it failed."""
        with explained_refusals():
            trial = self.running.pop(number)
            trial.set_user_attr("note", note)
            self.study.tell(trial, state=TrialState.FAIL if failed else TrialState.PRUNED)

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
        place = f"the storage holds another search by the name {self.study.study_name!r}"
        refuse_another(known, self.plan.identity, place, "--folder, --storage or --name")

    def _take(self, trial: optuna.trial.Trial) -> TrialRecord:
        self.study.sampler = self._sampler(trial.number)
        for row in self.plan.rows:
            row.tried.suggested(trial, row.setting)  # what was already proposed stays
        self.running[trial.number] = trial
        self.database.record_heartbeat(trial._trial_id)
        return self._record(self.study.get_trials(deepcopy=False)[trial.number])

    def _record(self, trial: FrozenTrial) -> TrialRecord:
        settings = read(trial.params, self.plan.rows)
        if settings is None and trial.state in (TrialState.COMPLETE, TrialState.PRUNED):
            raise BadInput(f"the storage is damaged: trial {trial.number} tried what this search cannot try")
        train, score = trial.user_attrs.get("train"), None
        if trial.state is TrialState.COMPLETE and isinstance(train, float) and trial.value is not None:
            score = Score(train, trial.value)
        note = str(trial.user_attrs.get("note", ""))
        return TrialRecord(trial.number, STATES[trial.state], settings or {}, score, note)


def adopted(folder: Path, plan: Plan) -> str:
    """Make this the folder of a search, or refuse if it is another's; gives back the folder's own id."""
    file = folder / "search.json"
    if not file.exists():
        if (folder / "trials").exists():
            raise BadInput(f"{folder} holds trials of an unknown search: use another --folder")
        write_checked(file, {"folder_id": uuid.uuid4().hex, "search": plan.identity})
    content = read_checked(file, ("folder_id", "search"))
    known, folder_id = content.get("search"), content.get("folder_id")
    if not isinstance(known, dict) or not isinstance(folder_id, str):
        raise BadInput(f"{file} is damaged: use another --folder")
    refuse_another(known, plan.identity, f"{folder} holds another search", "--folder")
    return folder_id
