"""PTDE solves a tiny task with a known answer: the student as its teacher."""

from dataclasses import replace

import numpy as np

from pc3d.learners.registry import algorithm_of
from pc3d.learners.round import EpisodeBatch, play_and_learn
from pc3d.play.actor_team import ActorTeam
from pc3d.play.arena import CompiledArena
from pc3d.play.scores import returns_by_size
from tests.probes import TeamSize, probe_experiment

UPDATES = 50
SMALL = {
    **{"team_encoder_widths": (16,), "team_encoding": 8, "personal_width": 4},
    **{"student_learning_rate": 1e-2, "student_batch_size": 16},
}


def test_the_student_tells_its_teams_size_from_history_as_its_teacher_does():
    experiment, arena = probe_experiment("ptde", UPDATES), CompiledArena(TeamSize(3))
    # Whether its teacher learns in so few updates hangs on luck, down to the order of roundings.
    experiment = replace(experiment, seed=1, algorithm=replace(experiment.algorithm, **SMALL))
    algorithm = algorithm_of(experiment)
    learner, teachers = algorithm.fresh(experiment, arena.game), []
    for update in range(UPDATES):
        numbers = experiment.episodes_of_update(update)
        sizes = np.array([experiment.team_size_of(number) for number in numbers])
        learner, report = play_and_learn(experiment, arena, learner, EpisodeBatch.of(0, numbers, sizes))
        teachers.append(float(report.lesson.scalars["return_of_teacher"]))
    assert np.nanmean(teachers[-15:]) > 0.9
    returns = returns_by_size(arena, ActorTeam(algorithm.policy(learner).actor), (1, 3), 32)
    assert min(np.mean(of_size) for of_size in returns.values()) > 0.9
    assert report.lesson.scalars["student_recovers"] > 0.5
