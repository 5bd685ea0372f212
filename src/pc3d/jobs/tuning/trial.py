"""One trial: a real training for each seed, scored on training and validation sizes. Runs in its own process.

This is the search's firewall: a trial makes its experiment itself, with sealed rosters, from a preset file
that has no place for sizes; those of an own task were sealed before they were written down for it. The test
sizes do not exist in this process.
"""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.mixes import Cast, Mixes
from pc3d.jobs.tuning.trial_folder import Budget, Score, TrialFolder
from pc3d.play.arena import Arena, CompiledArena
from pc3d.play.scores import returns_by_size
from pc3d.play.talking_team import team_of
from pc3d.presets.paper import paper, sealed
from pc3d.presets.preset_file import read_preset
from pc3d.runs.habits import Habits
from pc3d.runs.policy import load_policy
from pc3d.runs.run_folder import RunFolder
from pc3d.runs.train import train
from pc3d.system.checked_json import write_checked
from pc3d.system.errors import BadInput
from pc3d.system.files import explained, one_owner
from pc3d.system.imports import is_import_path
from pc3d.tasks.make import playable

SECONDS_FOR_THE_OTHER = 120  # a worker whose search was killed saves first, and may be compiling until then


def run_trial(folder: TrialFolder, experiment: Experiment, arena: Arena, budget: Budget) -> Score:
    """Train and score every seed, continuing whatever the folder already holds."""
    every = budget.evaluate_every
    habits = Habits(checkpoint_every=every, evaluate_every=every, tensorboard=False)
    with explained(f"writing to {folder.path}"), _alone_in(folder.path):
        runs = [
            train(replace(experiment, seed=seed), arena, folder.seed(seed), habits) for seed in budget.seeds
        ]
        train_return, validation = np.mean([_score(run, arena, budget.rollouts) for run in runs], axis=0)
        score = Score(float(train_return), float(validation))
        write_checked(folder.score_file, asdict(score))
    return score


def sealed_experiment(folder: TrialFolder, budget: Budget) -> Experiment:
    """What the trial trains: its preset, without the test sizes."""
    preset = read_preset(folder.preset)
    own = is_import_path(preset.task)
    usual = folder.read_own_task() if own else paper(preset.task, preset.method)
    return sealed(replace(preset.applied(usual, str(folder.preset)), episodes=budget.episodes))


def _score(run: RunFolder, arena: Arena, rollouts: int) -> list[float]:
    """The final policy's mean return over the training sizes, and over the validation sizes."""
    policy = load_policy(run.path)
    rosters, team = policy.experiment.rosters, team_of(policy.actor)
    if not policy.experiment.mixes.validation:
        returns = returns_by_size(arena, team, rosters.all, rollouts)
        return [_mean(returns, sizes) for sizes in (rosters.train, rosters.validation)]
    chosen_by = _with_validation_mixes(arena, policy.experiment.mixes)
    return [
        _mean(returns_by_size(place, team, sizes, rollouts), sizes)
        for place, sizes in ((arena, rosters.train), (chosen_by, rosters.validation))
    ]


def _mean(returns: dict[int, np.ndarray], sizes: tuple[int, ...]) -> float:
    """Every size counts equally."""
    return float(np.mean([np.mean(returns[size]) for size in sizes]))


def _with_validation_mixes(arena: Arena, mixes: Mixes) -> Arena:
    """What training never saw decides, as it does with team sizes."""
    cast = Cast(mixes.validation, mixes.seen)
    return CompiledArena(playable(arena.game).with_cast(cast))


@contextlib.contextmanager
def _alone_in(place: Path) -> Iterator[None]:
    """Hold the trial's folder, waiting for a worker that is still ending."""
    deadline = time.monotonic() + SECONDS_FOR_THE_OTHER
    with contextlib.ExitStack() as holding:
        while True:
            try:
                holding.enter_context(one_owner(place))
                break
            except BadInput:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.5)
        yield
