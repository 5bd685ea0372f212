"""The training loop: play, learn, write down, save; stop and continue anywhere without a trace."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import jax
import numpy as np

from pc3d.checkpoint import save_tree
from pc3d.errors import BadInput, Diverged, Interrupted
from pc3d.evaluation.scores import returns_by_size
from pc3d.files import explained, one_owner
from pc3d.hosted.crew import Crew
from pc3d.learner.round import EpisodeBatch, Round, play_and_learn, play_on_host_and_learn
from pc3d.learner.update import Learner, fresh_learner
from pc3d.methods import method_named
from pc3d.metrics import Gathering, LineFile
from pc3d.run_folder import RunFolder, policy_description
from pc3d.settings import Experiment, within
from pc3d.signals import Stop, stop_signals
from pc3d.tasks import make_game, playable
from pc3d.tasks.task import Game
from pc3d.versions import versions

LINES_PER_RUN = 2500


@dataclass(frozen=True)
class Habits:
    """How often a run is written down; none of it changes a single bit of what is learned."""

    checkpoint_every: int = 1000
    """Episodes between two checkpoints; 0 saves only when stopped."""
    log_every: int = 0
    """Updates gathered into one line of metrics; 0 chooses so that a run has at most 2,500 lines."""
    evaluate_every: int = 0
    """Episodes between two evaluations on training and validation sizes; 0 means never."""
    evaluation_rollouts: int = 32
    """Rollouts per team size in such an evaluation."""
    tensorboard: bool = True
    """Whether to write TensorBoard events, if tensorboardX is installed."""

    def __post_init__(self) -> None:
        within("checkpoint_every", self.checkpoint_every, 0, 10**9)
        within("log_every", self.log_every, 0, 10**9)
        within("evaluate_every", self.evaluate_every, 0, 10**9)
        within("evaluation_rollouts", self.evaluation_rollouts, 1, 10**6)


DEFAULT_HABITS = Habits()


class Watcher(Protocol):
    """Whoever wants to see a run progress."""

    def started(self, experiment: Experiment, episodes: int) -> None: ...
    def logged(self, line: dict[str, Any]) -> None: ...
    def played(self, episodes: int) -> None: ...


def train(
    experiment: Experiment,
    folder: Path | str,
    habits: Habits = DEFAULT_HABITS,
    watcher: Watcher | None = None,
    crew: Crew | None = None,
) -> RunFolder:
    """Train until done, continuing whatever the folder already holds; worlds on the host need their crew."""
    task = make_game(experiment)
    check(experiment, task, crew)
    run = RunFolder(folder)
    with explained(f"writing to {run.path}"):
        run.create()
        with one_owner(run.path), stop_signals() as stop:
            run.adopt(experiment, _about(task))
            if not run.done:
                _Training(experiment, task, run, habits, watcher, crew).until_done(stop)
    return run


def check(experiment: Experiment, task: Game, crew: Crew | None = None) -> None:
    """What can only be checked with the task at hand."""
    method_named(experiment.method)
    if crew is None:
        playable(task)
        if experiment.backend == "original":
            raise BadInput("training on the original packages needs a crew that steps them")
    elif experiment.critic.global_state:
        raise BadInput("worlds on the host have no global state: leave critic.global_state off")
    for size in experiment.rosters.all:
        task.with_slots(size)
    steps = experiment.ppo.update_every_episodes * task.horizon
    if steps > experiment.ppo.buffer_size:
        raise BadInput(
            f"ppo.buffer_size must be at least {steps}: each environment plays "
            f"{experiment.ppo.update_every_episodes} episodes of {task.horizon} steps between two updates, "
            f"not {experiment.ppo.buffer_size}"
        )


class _Training:
    """One run on its way."""

    def __init__(
        self,
        experiment: Experiment,
        task: Game,
        run: RunFolder,
        habits: Habits,
        watcher: Watcher | None,
        crew: Crew | None,
    ) -> None:
        self.experiment, self.task, self.run, self.habits = experiment, task, run, habits
        self.crew = crew
        self.watchers: list[Watcher] = [watcher] if watcher else []
        # The compiled program must not depend on the seed, or every seed would be compiled anew.
        self.compiled_experiment = replace(experiment, seed=0)
        self.metrics, self.evaluations = LineFile(run.metrics), LineFile(run.evaluations)
        self.log_every = habits.log_every or -(-experiment.updates // LINES_PER_RUN)

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
            if stop.asked or self._due(done, self.habits.checkpoint_every):
                self._save(done, learner, gathering)
            if stop.asked and done < self.experiment.updates:
                self._write_clock(done - first, began)
                raise Interrupted(
                    f"stopped after {self._episodes(done)} episodes; the same command continues"
                )
        self._write_clock(self.experiment.updates - first, began)
        self._finish(learner)

    def _begin(self) -> tuple[Learner, Gathering]:
        fresh = fresh_learner(self.experiment, self.task)
        found = self.run.newest_checkpoint(fresh, self.experiment)
        learner, description = found or (fresh, {"gathering": None})
        update = int(learner.update)
        within("the update of a checkpoint", update, 0, self.experiment.updates)
        self.metrics.cut_after(update)
        self.evaluations.cut_after(update)
        LineFile(self.run.clock).cut_torn()
        if self.habits.tensorboard:
            self.watchers += _tensorboard(self.run.path, self._episodes(update))
        for watcher in self.watchers:
            watcher.started(self.experiment, self._episodes(update))
        return learner, Gathering(description["gathering"])

    def _update(self, update: int, learner: Learner, gathering: Gathering) -> Learner:
        numbers = self.experiment.episodes_of_update(update)
        plan, total = self.experiment.curriculum, self.experiment.episodes
        sizes = np.array([plan.team_size(self.experiment.seed, number, total) for number in numbers])
        # As wide as the widest stage of these episodes, not as the luck of the draw: one program a stage.
        slots = max(plan.stages[plan.stage_index(number, total)].largest for number in numbers)
        learner, report = self._round(learner, numbers, sizes, slots)
        report = jax.device_get(report)
        self._refuse_divergence(update, report)
        gathering.add(_numbers(report), sizes, report.returns)
        for watcher in self.watchers:
            watcher.played(numbers.stop)
        return learner

    def _round(
        self, learner: Learner, numbers: range, sizes: np.ndarray, slots: int
    ) -> tuple[Learner, Round]:
        task, settings = self.task.with_slots(slots), self.compiled_experiment
        batch = EpisodeBatch.of(self.experiment.seed, numbers, sizes)
        if self.crew is not None:
            return play_on_host_and_learn(settings, task, self.crew, learner, batch)
        return play_and_learn(settings, playable(task), learner, batch)

    def _refuse_divergence(self, update: int, report: Round) -> None:
        for name, finite in vars(report.finite).items():
            if not finite:
                raise Diverged(
                    f"training diverged at update {update + 1}: {name} not finite; "
                    f"the last good checkpoint is kept in {self.run.checkpoints}"
                )

    def _write_line(self, done: int, gathering: Gathering) -> None:
        episodes = self._episodes(done)
        stage = self.experiment.curriculum.stage_index(episodes - 1, self.experiment.episodes) + 1
        line = gathering.line(done, episodes, stage)
        self.metrics.append(line)
        for watcher in self.watchers:
            watcher.logged(line)

    def _evaluate_if_due(self, done: int, learner: Learner) -> None:
        if not self._due(done, self.habits.evaluate_every):
            return
        # Never test sizes: they are scored once, when all is decided.
        sizes = self.experiment.rosters.train + self.experiment.rosters.validation
        actor = learner.networks.actor
        returns = returns_by_size(self.task, actor, sizes, self.habits.evaluation_rollouts, crew=self.crew)
        line = {str(size): float(np.mean(values)) for size, values in returns.items()}
        self.evaluations.append({"update": done, "episodes": self._episodes(done), "return_by_size": line})

    def _save(self, done: int, learner: Learner, gathering: Gathering) -> None:
        self.metrics.sync()
        self.evaluations.sync()
        description = policy_description(self.experiment, self.task.return_definition)
        saved = {**description, "kind": "checkpoint", "gathering": gathering.plain()}
        self.run.save_checkpoint(done, learner, saved)

    def _finish(self, learner: Learner) -> None:
        self.metrics.sync()
        self.evaluations.sync()
        description = policy_description(self.experiment, self.task.return_definition)
        save_tree(self.run.final, learner.policy, description)
        self.run.finish({"episodes": self.experiment.episodes, "updates": self.experiment.updates})

    def _write_clock(self, updates: int, began: float) -> None:
        seconds = round(time.monotonic() - began, 3)
        LineFile(self.run.clock).append({"updates": updates, "seconds": seconds})

    def _due(self, done: int, every: int) -> bool:
        """Whether an update passed a multiple of so many episodes."""
        return bool(every) and self._episodes(done) // every > self._episodes(done - 1) // every

    def _episodes(self, updates: int) -> int:
        return min(updates * self.experiment.episodes_per_update, self.experiment.episodes)


def _tensorboard(folder: Path, episodes: int) -> list[Watcher]:
    try:
        from pc3d.tensorboard import TensorBoard
    except ImportError:
        return []
    return [TensorBoard(folder, episodes)]


def _numbers(report: Round) -> dict[str, float]:
    numbers = {name: float(value) for name, value in vars(report.losses).items()}
    return {
        **{f"loss_{name}" if name in LOSS_TERMS else name: value for name, value in numbers.items()},
        "gradient_norm": float(report.gradient_norm),
        "learning_rate": float(report.learning_rate),
    }


LOSS_TERMS = ("total", "policy", "value", "distillation")


def _about(task: Game) -> dict[str, Any]:
    return {"return_definition": task.return_definition, "versions": versions()}
