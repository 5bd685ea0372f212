"""What a student keeps of its teacher's return, from a run's checkpoint."""

import math

from pc3d.cli import main
from pc3d.evaluation.retention import Retention, retention
from pc3d.play.arena import CompiledArena
from pc3d.runs.habits import Habits
from pc3d.runs.train import train
from pc3d.tasks.make import make_game
from tests.evaluation.policies import finished_run
from tests.small import small_experiment


def test_the_ratio_is_of_what_is_more_than_random_play():
    assert Retention(student=-30, teacher=-20, random=-60).ratio == 0.75
    assert math.isnan(Retention(student=-30, teacher=-70, random=-60).ratio)


def test_teacher_and_student_of_a_run_are_scored_from_the_same_starts(tmp_path, capsys):
    experiment = small_experiment("ctds", episodes=3)
    arena = CompiledArena(make_game(experiment))
    run = train(experiment, arena, tmp_path, Habits(checkpoint_every=3, tensorboard=False))
    found = retention(run, arena, (1, 2), rollouts=2)
    assert set(found) == {1, 2}
    assert len({found[2].student, found[2].teacher, found[2].random}) == 3
    assert main(["evaluate", str(tmp_path), "--teacher", "--team-sizes", "1-2", "--rollouts", "2"]) == 0
    shown = capsys.readouterr().out
    assert all(f"{value:.4g}" in shown for value in (found[2].student, found[2].teacher))
    assert ("–" if math.isnan(found[2].ratio) else f"{found[2].ratio:.2f}") in shown


def test_a_run_without_a_checkpoint_is_refused(tmp_path, capsys):
    run = finished_run(tmp_path, method="ctds")
    assert main(["evaluate", str(run.path), "--teacher"]) == 2
    assert "only one holds the teacher" in capsys.readouterr().err
    assert main(["evaluate", str(run.final), "--teacher"]) == 2
    assert "is a policy alone" in capsys.readouterr().err
    for words in (["--actions", "greedy"], ["--mix", "unlike"], ["--roster", "lose-half"]):
        assert main(["evaluate", str(run.path), "--teacher", *words]) == 2
        assert "goes with --team-sizes" in capsys.readouterr().err
    assert main(["evaluate", "--references", "spread", "--teacher"]) == 2
    assert "name a run" in capsys.readouterr().err


def test_a_teacher_that_only_teaches_does_not_play(tmp_path, capsys):
    assert main(["evaluate", str(finished_run(tmp_path, method="pc3d").path), "--teacher"]) == 2
    assert "pc3d has no teacher that plays" in capsys.readouterr().err
