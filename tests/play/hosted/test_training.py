"""Training on worlds on the host: repeatable, resumable, and the same with any number of workers."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from pc3d.cli import main
from pc3d.experiment.rosters import Curriculum, Stage
from pc3d.play.arena import CompiledArena
from pc3d.play.hosted.crew import Hosting
from pc3d.play.opening import open_arena
from pc3d.presets.paper import paper
from pc3d.runs.metrics import read_lines
from pc3d.runs.train import Habits, train
from pc3d.system.errors import BadInput, Interrupted
from pc3d.tasks.make import make_game
from tests.play.hosted.tiny import PATH, SIZES, TINY, sample_arena, tiny_experiment
from tests.runs.test_train import StopAfter
from tests.small import small_experiment

HABITS = Habits(tensorboard=False, checkpoint_every=4, log_every=1)


def digests(run):
    files = (run.final, run.metrics, run.experiment_file)
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    with sample_arena() as arena:
        return train(tiny_experiment(), arena, tmp_path_factory.mktemp("undisturbed"), HABITS)


def test_a_stopped_run_with_another_number_of_workers_ends_with_the_same_bits(undisturbed, tmp_path):
    with sample_arena(workers=3) as arena:
        with pytest.raises(Interrupted):
            train(tiny_experiment(), arena, tmp_path, HABITS, StopAfter(1))
        again = train(tiny_experiment(), arena, tmp_path, HABITS)
    assert digests(again) == digests(undisturbed)


def test_another_seed_plays_other_episodes(undisturbed, tmp_path):
    with sample_arena() as arena:
        other = train(tiny_experiment(seed=5), arena, tmp_path, HABITS)
    assert digests(other) != digests(undisturbed)


@pytest.mark.parametrize("task", ["lbf"])
def test_training_on_the_original_meets_the_ports_episodes(task, tmp_path):
    one_stage = Curriculum((Stage(1.0, (2, 4), (0.5, 0.5)),))
    experiment = small_experiment("mappo", task, episodes=6, curriculum=one_stage)
    with open_arena(experiment) as arena:
        port = train(experiment, arena, tmp_path / "port", HABITS)
    with open_arena(experiment, hosting=Hosting(2), original=True) as arena:
        original = train(replace(experiment, backend="original"), arena, tmp_path / "original", HABITS)
    for ours, theirs in zip(read_lines(port.metrics), read_lines(original.metrics), strict=True):
        assert ours["return_by_size"] == theirs["return_by_size"]
        assert ours["entropy"] == pytest.approx(theirs["entropy"], abs=1e-5)


def test_worlds_on_the_host_need_a_crew_and_nothing_is_begun_without(tmp_path):
    own, original = tiny_experiment(), replace(paper("lbf", "mappo"), backend="original")
    with pytest.raises(BadInput, match=f"--task {PATH}"):
        train(own, CompiledArena(make_game(own)), tmp_path / "own")
    with pytest.raises(BadInput, match="needs a crew"):
        train(original, CompiledArena(make_game(original)), tmp_path / "original")
    assert list(tmp_path.iterdir()) == []


def test_a_global_state_is_refused(tmp_path):
    experiment = tiny_experiment()
    experiment = replace(experiment, critic=replace(experiment.critic, global_state=True))
    with sample_arena() as arena, pytest.raises(BadInput, match="no global state"):
        train(experiment, arena, tmp_path)


def test_a_failing_world_ends_the_command_with_one_sentence_and_code_1(tmp_path, capsys, monkeypatch):
    # A fault that shows itself only in training: the check plays seeds 1 and 2.
    words = [f"{PATH[:-4]}FailsLater", "mappo", *SIZES, *TINY, "--folder", str(tmp_path)]
    assert main(["train", *words]) == 1
    errors = capsys.readouterr().err.strip().splitlines()
    assert len(errors) == 1
    assert "FailsLater failed with 2 agents and seed" in errors[0]
    assert "at step 2" in errors[0]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "an own task needs its team sizes"),
        (["--train-sizes", "2", "--rosters", "file"], "not both"),
        (["--rosters", "no-such-file"], "cannot be read"),
        (["--train-sizes", "2,3", "--test-sizes", "3"], "3 agents are in --train-sizes and in --test-sizes"),
        (["--train-sizes", "2", "--preset", "paper"], "there is no preset of an own task"),
        (["--train-sizes", "2", "--horizon", "0"], "horizon must be from 1"),
        (["--train-sizes", "2", "--env-workers", "0"], "env_workers must be from 1"),
        (["--train-sizes", "2", "--backend", "original"], "no other original"),
    ],
)
def test_bad_input_is_one_sentence(words, sentence, capsys):
    assert main(["train", PATH, "pc3d", *words]) == 2
    errors = capsys.readouterr().err
    assert sentence in errors
    assert errors.count("\n") == 1


def test_a_task_that_breaks_the_contract_is_refused_with_the_first_problem(capsys):
    assert main(["train", f"{PATH[:-4]}WideTeams", "pc3d", "--train-sizes", "2,3"]) == 2
    assert "observations have shape (4,) with 2 agents and (5,) with 3" in capsys.readouterr().err


@pytest.mark.slow
def test_a_team_on_the_host_learns_to_meet(tmp_path):
    experiment = tiny_experiment(episodes=960)
    ppo = replace(experiment.algorithm, update_every_episodes=16, batch_size=16, learning_rate=3e-3, epochs=8)
    with sample_arena(workers=2) as arena:
        run = train(replace(experiment, algorithm=ppo), arena, tmp_path, HABITS)
    returns = [line["return"] for line in read_lines(run.metrics)]
    assert np.mean(returns[-20:]) > 0.6 * np.mean(returns[:5])  # both are negative: the way apart shrinks
