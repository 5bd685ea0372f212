"""Test sizes stay unseen in a search. Each test tries another way around that."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from pc3d.cli import main
from pc3d.evaluation import run as evaluation
from pc3d.evaluation.run import EvaluationSettings, evaluate
from pc3d.experiment.methods import METHODS
from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.jobs.tuning.trial import run_trial, sealed_experiment
from pc3d.jobs.tuning.trial_folder import Budget, TrialFolder
from pc3d.learners.registry import algorithm_of
from pc3d.play import scores
from pc3d.play.arena import CompiledArena
from pc3d.presets.paper import paper
from pc3d.presets.preset_file import Preset, write_preset
from pc3d.report.runs import find_runs
from pc3d.runs.checkpoint import save_tree
from pc3d.runs.metrics import read_lines
from pc3d.runs.policy import load_policy
from pc3d.runs.run_folder import RunFolder, policy_description
from pc3d.runs.train import train
from pc3d.system.errors import BadInput
from pc3d.tasks.make import make_game, make_task
from pc3d.tasks.registry import papers
from tests.evaluation.policies import finished_run
from tests.faults import tiny_runs
from tests.small import small_experiment

ROSTERS = {task: settings.rosters for task, settings in papers().items()}
SEEN = (1, 2, 3, 4, 5, 6, 7, 8)
NARROW = {
    "actor.widths": (8,),
    "actor.rnn_dim": 8,
    "critic.widths": (8,),
    "ppo.update_every_episodes": 8,
    "ppo.epochs": 1,
}


def arena_of(experiment):
    return CompiledArena(make_game(experiment))


@pytest.fixture
def trial(tmp_path):
    """A trial's folder, ready to run."""
    folder = TrialFolder(tmp_path / "trials" / "0000")
    folder.path.mkdir(parents=True)
    write_preset(folder.preset, Preset("spread", "mappo", NARROW))
    return folder


@pytest.fixture
def searched_run(made_searched_run, tmp_path):
    """A finished run as a trial leaves it."""
    shutil.copytree(made_searched_run, tmp_path / "seed-1000")
    return RunFolder(tmp_path / "seed-1000")


@pytest.fixture(scope="module")
def made_searched_run(tmp_path_factory):
    """One that was never trained."""
    ordinary = small_experiment("mappo", "spread")
    experiment = replace(ordinary, rosters=ordinary.rosters.sealed())
    world = make_task(experiment)
    run = RunFolder(tmp_path_factory.mktemp("searched") / "seed-1000")
    run.create()
    run.adopt(experiment, {"return_definition": world.return_definition})
    run.metrics.write_text("")
    algorithm = algorithm_of(experiment)
    policy = algorithm.policy(algorithm.fresh(experiment, world))
    save_tree(run.final, policy, policy_description(experiment, world.return_definition))
    run.finish({"episodes": 0})
    return run.path


@pytest.mark.parametrize("task", sorted(ROSTERS))
def test_sealed_rosters_have_no_test_sizes_but_the_same_width(task):
    rosters = ROSTERS[task].sealed()
    assert rosters.test == ()
    assert set(rosters.all) == set(ROSTERS[task].train + ROSTERS[task].validation)
    assert rosters.largest == ROSTERS[task].largest
    assert rosters.sealed() == rosters


@pytest.mark.parametrize("method", METHODS)
def test_a_trials_experiment_is_sealed_for_every_method(tmp_path, method):
    folder = TrialFolder(tmp_path)
    write_preset(folder.preset, Preset("spread", method, {}))
    experiment = sealed_experiment(folder, Budget(40, 1, 4))
    assert experiment == replace(paper("spread", method), rosters=ROSTERS["spread"].sealed(), episodes=40)


@pytest.mark.parametrize("size", ROSTERS["spread"].test)
def test_a_sealed_experiment_cannot_train_on_a_test_size(size):
    experiment = paper("spread", "mappo")
    with pytest.raises(BadInput, match="training sizes are"):
        replace(
            experiment,
            rosters=experiment.rosters.sealed(),
            curriculum=Curriculum((Stage(1.0, (size,), (1.0,)),)),
        )


def test_sealed_rosters_cannot_be_given_test_sizes_again():
    with pytest.raises(BadInput, match="no test sizes"):
        replace(ROSTERS["spread"].sealed(), test=(9,))
    with pytest.raises(BadInput, match="no test sizes"):
        Rosters((1,), (2,), (3,), sealed_largest=3)


def test_a_real_trial_plays_training_and_validation_sizes_and_no_other(trial, monkeypatch):
    played = set()

    def spy(arena, team, team_size, rollouts):
        played.add(int(team_size))
        return score(arena, team, team_size, rollouts)

    score = scores.score
    monkeypatch.setattr(scores, "score", spy)
    budget = Budget(8, 1, 32)  # one update, and as many rollouts as on the way: two programs to compile
    experiment = sealed_experiment(trial, budget)
    result = run_trial(trial, experiment, arena_of(experiment), budget)
    assert played == set(SEEN)
    assert trial.score() == result
    run = RunFolder(trial.seed(1000))
    trained = {int(size) for line in read_lines(run.metrics) for size in line["return_by_size"]}
    assert trained <= set(ROSTERS["spread"].train)
    evaluated = {int(size) for line in read_lines(run.evaluations) for size in line["return_by_size"]}
    assert evaluated == set(SEEN)
    assert run.experiment().rosters == ROSTERS["spread"].sealed()
    assert list(trial.reports(budget, (3, 5, 7))) == [8]


@pytest.mark.slow
def test_a_trials_networks_are_bit_for_bit_those_of_the_real_training(trial, tmp_path):
    budget = Budget(16, 1, 2)
    sealed = sealed_experiment(trial, budget)
    run_trial(trial, sealed, arena_of(sealed), budget)
    experiment = replace(sealed, rosters=ROSTERS["spread"], seed=1000)
    real = train(experiment, arena_of(experiment), tmp_path / "real")
    lines = [(folder / "metrics.jsonl").read_bytes() for folder in (real.path, trial.seed(1000))]
    assert lines[0] == lines[1]


@pytest.mark.parametrize("sizes", ["9", "10", "1-9", "3,5,10"])
def test_evaluate_refuses_test_sizes_of_a_searched_policy(searched_run, capsys, sizes):
    assert main(["evaluate", str(searched_run.path), "--team-sizes", sizes, "--rollouts", "1"]) == 2
    assert "is sealed" in capsys.readouterr().err
    assert not (searched_run.path / "scores.csv").exists()


@pytest.mark.parametrize("backend", ["jax", "original"])
def test_a_copied_policy_file_is_refused_as_well(searched_run, tmp_path, capsys, backend):
    copy = tmp_path / "elsewhere" / "policy.safetensors"
    copy.parent.mkdir()
    shutil.copy(searched_run.final, copy)
    words = ["evaluate", str(copy), "--out", str(tmp_path / "out"), "--team-sizes", "9", "--backend", backend]
    assert main(words) == 2
    assert "is sealed" in capsys.readouterr().err


def test_the_function_behind_evaluate_refuses_too(searched_run, tmp_path):
    once = EvaluationSettings(rollouts=1, context_rollouts=1)
    with pytest.raises(BadInput, match="is sealed"):
        evaluate(load_policy(searched_run.path), arena_of(searched_run.experiment()), tmp_path, (9,), once)


def test_watch_refuses_test_sizes_of_a_searched_policy(searched_run, tmp_path, capsys):
    out = tmp_path / "film.gif"
    assert main(["watch", str(searched_run.path), "--team-size", "9", "--out", str(out)]) == 2
    assert "is sealed" in capsys.readouterr().err
    assert not out.exists()


def test_evaluate_without_sizes_scores_only_what_a_search_may_see(searched_run, monkeypatch):
    asked = []

    def only_ask(arena, team, size, rollouts, look):
        asked.append(size)
        if len(asked) == len(SEEN):
            raise BadInput("seen enough")
        return scores.SizeScores(np.zeros(1), {})

    monkeypatch.setattr(evaluation, "score", only_ask)
    with pytest.raises(BadInput, match="seen enough"):
        evaluate(load_policy(searched_run.path), arena_of(searched_run.experiment()), searched_run.path)
    assert tuple(asked) == SEEN
    assert searched_run.experiment().rosters.all == SEEN


def test_report_does_not_mix_searched_policies_with_others(searched_run, tmp_path):
    finished_run(tmp_path / "ordinary", method="pc3d")
    runs = find_runs([tmp_path])
    assert [run.experiment.method for run in runs.all] == ["pc3d"]
    assert [run.folder.path for run in runs.trials] == [searched_run.path]


@pytest.mark.parametrize(
    "words",
    [("--specialist", "9"), ("--rosters.validation", "3", "9", "--rosters.test", "10")],
)
def test_a_sealed_training_is_given_no_test_size_by_another_way(words, capsys):
    assert main(["train", "spread", "mappo", "--sealed", "True", *words]) == 2
    assert "9 agents are one of them" in capsys.readouterr().err


def test_the_loss_of_an_exported_policy_is_not_measured_at_sealed_sizes(searched_run, tmp_path, capsys):
    words = ["export", str(searched_run.path), str(tmp_path / "policy.onnx"), "--int8", "--team-sizes", "9"]
    assert main(words) == 2
    assert "team size 9 is sealed" in capsys.readouterr().err


def test_a_policy_trained_with_test_sizes_sealed_is_refused_there(tmp_path, capsys):
    words = [*tiny_runs.train_words(tmp_path), "--rosters.test", "1", "--sealed", "True"]
    assert main(words) == 0
    assert main(["evaluate", str(tmp_path), "--team-sizes", "1"]) == 2
    assert "team size 1 is sealed" in capsys.readouterr().err


def test_train_cannot_be_told_to_open_a_trials_folder(searched_run, capsys):
    words = ["train", "spread", "mappo", "--folder", str(searched_run.path), "--seed", "1000"]
    assert main(words) == 2
    assert "holds another experiment" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["--fix", "rosters.validation=9"],
        ["--fix", "rosters.sealed_largest=0"],
        ["--fix", "curriculum.stages=9"],
        ["--fix", "critic.rosters=9"],
    ],
)
def test_no_fixed_setting_reaches_the_sizes(tmp_path, capsys, words):
    assert main(["tune", "spread", "mappo", "--folder", str(tmp_path / "t"), "--show-space", *words]) == 2
    assert "there is no" in capsys.readouterr().err
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize("option", ["--rosters.test", "--rosters.validation", "--team-sizes", "--curriculum"])
def test_a_search_has_no_option_for_other_sizes_of_the_papers_tasks(option, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["tune", "spread", "mappo", option, "9"])
    assert stop.value.code == 2


def test_a_preset_in_a_trials_folder_that_names_sizes_is_refused(trial, capsys):
    trial.preset.write_text(trial.preset.read_text() + "\n[rosters]\nvalidation = [9, 10]\n")
    words = ["tune", "trial", str(trial.path), "--episodes", "8", "--seeds", "1", "--rollouts", "1"]
    assert main(words) == 2
    assert "no entry in" in capsys.readouterr().err
    assert not trial.seed(1000).exists()
