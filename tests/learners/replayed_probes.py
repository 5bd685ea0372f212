"""Training on a probe with a replay, for all algorithms that have one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pc3d.experiment.replayed_settings import ReplayedSettings
from pc3d.learners.registry import algorithm_of
from pc3d.learners.replay import Replay
from pc3d.learners.round import EpisodeBatch, play_and_learn_again
from pc3d.play.arena import CompiledArena
from pc3d.play.scores import returns_by_size
from pc3d.play.talking_team import team_of
from tests.probes import Probe, probe_experiment

EPISODES = 32  # of an update


def trained_with(
    settings: ReplayedSettings, method: str, probe: Callable[[int], Probe], updates: int, **changes: Any
):
    """The learner after training, and the mean return of its policy at the worse of two sizes."""
    experiment, arena = (
        replace(probe_experiment(method, updates), algorithm=settings, **changes),
        CompiledArena(probe(3)),
    )
    algorithm, replay = algorithm_of(experiment), Replay(settings.replay)
    learner = algorithm.fresh(experiment, arena.game)
    for update in range(updates):
        numbers = experiment.episodes_of_update(update)
        sizes = np.array([experiment.team_size_of(number) for number in numbers])
        batch = EpisodeBatch.of(0, numbers, sizes)
        learner, _ = play_and_learn_again(experiment, arena, learner, batch, replay, 0)
    returns = returns_by_size(arena, team_of(algorithm.policy(learner).actor), (1, 3), 32)
    return learner, min(float(np.mean(of_size)) for of_size in returns.values())
