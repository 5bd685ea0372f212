"""The training loop: play, learn, write down, save; stop and continue anywhere without a trace."""

import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.methods import method_named
from pc3d.experiment.roster_check import check_training
from pc3d.experiment.rosters import Stage
from pc3d.learners.algorithm import Learner
from pc3d.learners.registry import algorithm_of
from pc3d.learners.replay import Replay
from pc3d.learners.round import EpisodeBatch, Round, play_and_learn, play_and_learn_again
from pc3d.networks.build import refuse_actions, refuse_mismatch
from pc3d.play.arena import Arena
from pc3d.play.scores import returns_by_size
from pc3d.play.talking_team import team_of
from pc3d.presets.experiment_file import refuse_unreadable
from pc3d.runs.checkpoint import save_tree
from pc3d.runs.flat_line import flat
from pc3d.runs.habits import DEFAULT_HABITS, Habits
from pc3d.runs.lengthening import forget_finished
from pc3d.runs.metrics import Gathering, Line, LineFile, WrittenLines
from pc3d.runs.origin import begun_with
from pc3d.runs.policy import Policy
from pc3d.runs.replay_folder import MOST_ROUNDS, ReplayFolder
from pc3d.runs.run_folder import KEPT_CHECKPOINTS, RunFolder, policy_description
from pc3d.runs.trackers.table import trackers
from pc3d.runs.watcher import Watcher, Watchers
from pc3d.system.bounds import within
from pc3d.system.errors import BadInput, DamagedFile, Diverged, Interrupted
from pc3d.system.files import explained, one_owner
from pc3d.system.plain import from_plain
from pc3d.system.signals import Stop, stop_signals
from pc3d.system.versions import versions
from pc3d.tasks.make import playable
from pc3d.tasks.task import Game

LINES_PER_RUN = 2500
EARLY = 0.1  # of a run; until then nothing can be said of how it will go


def train(
    experiment: Experiment,
    arena: Arena,
    folder: Path | str,
    habits: Habits = DEFAULT_HABITS,
    watcher: Watcher | None = None,
    origin: Policy | None = None,
) -> RunFolder:
    """Train in an arena of the experiment's game until done, continuing whatever the folder already holds.

    A policy to begin with is the one that the experiment names as its origin.
    """
    check(experiment, arena)
    if origin is not None:  # one that does not fit leaves no folder behind
        begun_with(algorithm_of(experiment).fresh(experiment, arena.game), experiment, origin)
    run = RunFolder(folder)
    with explained(f"writing to {run.path}"):
        run.create()
        with one_owner(run.path), stop_signals() as stop:
            experiment = run.adopt(experiment, _about(arena.game))
            if not run.done:
                training = _Training(experiment, arena, run, habits, watcher, origin)
                try:
                    training.until_done(stop)
                finally:
                    training.watchers.ended(run.done)
    return run


def check(experiment: Experiment, arena: Arena) -> None:
    """What can only be checked with the task and the method at hand."""
    refuse_mismatch(method_named(experiment.method))
    refuse_unreadable(experiment)
    if arena.compiled:
        playable(arena.game)
        if experiment.backend == "original":
            raise BadInput("training on the original packages needs a crew that steps them")
    elif experiment.critic.global_state:
        raise BadInput("worlds on the host have no global state: leave critic.global_state off")
    elif (replay := experiment.algorithm.replay) and replay.first_memories:
        raise BadInput("worlds on the host keep no memories to learn from again: burn in instead")
    for size in experiment.rosters.all:
        arena.with_slots(size)
    game = arena.with_roster(experiment.roster).game
    check_training(experiment, game.fewest_present, game.horizon)
    kept, each = experiment.algorithm.replay, experiment.episodes_per_update
    if kept is not None and kept.capacity > MOST_ROUNDS * each:
        raise BadInput(
            f"a replay holds at most {MOST_ROUNDS:,} rounds, which is {MOST_ROUNDS * each:,} episodes here, "
            f"not {kept.capacity:,}: remember fewer of them, or play more before an update"
        )
    refuse_actions(experiment, game.action_space)
    algorithm_of(experiment).check(experiment, arena.game)


class _Training:
    """One run on its way."""

    def __init__(
        self,
        experiment: Experiment,
        arena: Arena,
        run: RunFolder,
        habits: Habits,
        watcher: Watcher | None,
        origin: Policy | None = None,
    ) -> None:
        self.experiment, self.arena, self.run, self.habits = experiment, arena, run, habits
        self.origin = origin
        self.algorithm = algorithm_of(experiment)
        self.description = policy_description(experiment, arena.game.return_definition)
        given = [] if watcher is None else [watcher]
        self.watchers = Watchers([*given, *trackers(habits, run.path)])
        # The compiled program must not depend on the seed, or every seed would be compiled anew.
        self.compiled_experiment = replace(experiment, seed=0, origin=None, lengthened_from=())
        self.watched, self.warned = watcher is not None, False
        self.metrics, self.evaluations = LineFile(run.metrics), LineFile(run.evaluations)
        self.log_every = habits.log_every or -(-experiment.updates // LINES_PER_RUN)
        kept = experiment.algorithm.replay
        self.replay = kept and ReplayFolder(run.replay, Replay(kept))

    def until_done(self, stop: Stop) -> None:
        learner, gathering = self._begin()
        began, first = time.monotonic(), int(learner.update)
        for update in range(first, self.experiment.updates):
            learner = self._update(update, learner, gathering)
            done = update + 1
            if done % self.log_every == 0 or done == self.experiment.updates:
                self._write_line(done, gathering)
                gathering = Gathering()
            self._evaluate_if_due(done, learner)
            ended = done == self.experiment.updates  # a longer run goes on from there
            if stop.asked or ended or self._due(done, self.habits.checkpoint_every):
                self._save(done, learner, gathering)
            if stop.asked and not ended:
                self._write_clock(done - first, began)
                raise Interrupted(
                    f"stopped after {self._episodes(done)} episodes; the same command continues"
                )
        self._write_clock(self.experiment.updates - first, began)
        self._finish(learner)

    def _begin(self) -> tuple[Learner, Gathering]:
        fresh = self.algorithm.fresh(self.experiment, self.arena.game)
        found = self.run.newest_checkpoint(fresh, self.experiment)
        if found is None:
            found = begun_with(fresh, self.experiment, self.origin), {"gathering": None}
        learner, description = found
        update = int(learner.update)
        within("the update of a checkpoint", update, 0, self.experiment.updates)
        if self.replay:
            self.replay.restore(description.get("replay", []))
        self._cut_lines(update, description.get("written"))
        if update == self.experiment.updates and not self.metrics.written().size:
            raise DamagedFile(
                f"{self.run.metrics} has no line, though the training is at its end: take it from a backup, "
                "or begin anew in another folder"
            )
        LineFile(self.run.clock).cut_torn()
        self.watchers.started(self.experiment, self._episodes(update))
        return learner, Gathering(description["gathering"])

    def _cut_lines(self, update: int, written: Any) -> None:
        """Back to what the checkpoint relies on, all of which must be there."""
        if written is None:  # at the beginning, or from a checkpoint of the first versions
            self.metrics.cut_after(update)
            self.evaluations.cut_after(update)
            return
        relied_on = from_plain(WrittenLines, written, "what a checkpoint says of its lines")
        self.metrics.cut_to(relied_on.metrics)
        self.evaluations.cut_to(relied_on.evaluations)

    def _update(self, update: int, learner: Learner, gathering: Gathering) -> Learner:
        numbers = self.experiment.episodes_of_update(update)
        sizes = np.array([self.experiment.team_size_of(number) for number in numbers])
        # As wide as the widest stage of these episodes, not as the luck of the draw: one program a stage.
        slots = max(self._slots(self.experiment.stage_of(number)) for number in numbers)
        learner, report = self._round(learner, EpisodeBatch.of(self.experiment.seed, numbers, sizes), slots)
        report = jax.device_get(report)
        self._refuse_divergence(update, report)
        scalars = {name: float(value) for name, value in report.lesson.scalars.items()}
        gathering.add(scalars, sizes, report.returns)
        self.watchers.played(numbers.stop)
        return learner

    def _slots(self, stage: Stage) -> int:
        return self.experiment.most_slots(stage, self.arena.game.fewest_present)

    def _round(self, learner: Learner, batch: EpisodeBatch, slots: int) -> tuple[Learner, Round]:
        arena = self.arena.with_roster(self.experiment.roster).with_slots(slots)
        settings = self.compiled_experiment
        if not self.replay:
            return play_and_learn(settings, arena, learner, batch)
        replay, seed = self.replay.replay, self.experiment.seed
        learner, report = play_and_learn_again(settings, arena, learner, batch, replay, seed)
        self.replay.write_newest()
        return learner, report

    def _refuse_divergence(self, update: int, report: Round) -> None:
        for name, finite in vars(report.lesson.finite).items():
            if not finite:
                raise Diverged(
                    f"training diverged at update {update + 1}: {name} not finite; "
                    f"the last good checkpoint is kept in {self.run.checkpoints}"
                )
        if report.stuck is not None and report.stuck:
            raise Diverged(
                f"training stopped at update {update + 1}: the task's mask allows somebody no action; "
                "leave everybody one that does nothing"
            )

    def _write_line(self, done: int, gathering: Gathering) -> None:
        episodes = self._episodes(done)
        line = gathering.line(done, episodes, self.experiment.stage_number(episodes - 1))
        self.metrics.append(line)
        self.watchers.logged(flat(line))
        self._warn_if_due(line)

    def _warn_if_due(self, line: Line) -> None:
        concern = self.algorithm.concern(line)
        if concern and not self.warned and line["episodes"] >= EARLY * self.experiment.episodes:
            self.warned = True  # once is enough
            self.watchers.warned(concern)
            if not self.watched:
                print(f"pc3d: {concern}", file=sys.stderr)

    def _evaluate_if_due(self, done: int, learner: Learner) -> None:
        if not self._due(done, self.habits.evaluate_every):
            return
        # Never test sizes: they are scored once, when all is decided.
        sizes = self.experiment.rosters.train + self.experiment.rosters.validation
        team = team_of(self.algorithm.policy(learner).actor)
        returns = returns_by_size(self.arena, team, sizes, self.habits.evaluation_rollouts)
        means = {str(size): float(np.mean(values)) for size, values in returns.items()}
        line = {"update": done, "episodes": self._episodes(done), "return_by_size": means}
        self.evaluations.append(line)
        self.watchers.evaluated(flat(line))

    def _save(self, done: int, learner: Learner, gathering: Gathering) -> None:
        self.metrics.sync()
        self.evaluations.sync()
        written = asdict(WrittenLines(self.metrics.written(), self.evaluations.written()))
        about = {"kind": "checkpoint", "gathering": gathering.plain(), "written": written}
        saved = {**self.description, **about}
        if self.replay:
            saved["replay"] = self.replay.held()
        self.run.save_checkpoint(done, learner, saved)
        if self.replay:
            self.replay.checkpointed(KEPT_CHECKPOINTS)

    def _finish(self, learner: Learner) -> None:
        self.metrics.sync()
        self.evaluations.sync()
        save_tree(self.run.final, self.algorithm.policy(learner), self.description)
        self.run.finish({"episodes": self.experiment.episodes, "updates": self.experiment.updates})
        forget_finished(self.run.path, self.experiment)

    def _write_clock(self, updates: int, began: float) -> None:
        seconds = round(time.monotonic() - began, 3)
        LineFile(self.run.clock).append({"updates": updates, "seconds": seconds})

    def _due(self, done: int, every: int) -> bool:
        """Whether an update passed a multiple of so many episodes."""
        return bool(every) and self._episodes(done) // every > self._episodes(done - 1) // every

    def _episodes(self, updates: int) -> int:
        return min(updates * self.experiment.episodes_per_update, self.experiment.episodes)


def _about(task: Game) -> dict[str, Any]:
    return {"return_definition": task.return_definition, "versions": versions()}
