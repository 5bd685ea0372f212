"""Going on from what there is: longer runs, and runs that begin with another one's policy."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pytest

from pc3d.cli.evaluate import find_policies
from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.play.arena import CompiledArena
from pc3d.report.runs import find_runs
from pc3d.runs import train as training
from pc3d.runs.checkpoint import named_arrays, read_file, save_tree
from pc3d.runs.habits import Habits
from pc3d.runs.lengthening import is_earlier, keep_finished, lengthened
from pc3d.runs.line_contract import read_metrics
from pc3d.runs.origin import begun_with, origin_of
from pc3d.runs.policy import load_policy
from pc3d.runs.run_folder import RunFolder, policy_description
from pc3d.system.errors import BadInput, Interrupted
from pc3d.tasks.make import make_game
from tests.runs.test_replay_folder import StopAfter
from tests.small import small_experiment

HABITS = Habits(tensorboard=False, checkpoint_every=3, log_every=1)
PAIRS = Curriculum((Stage(1.0, (1, 2), (0.5, 0.5)),))


def tiny(method="mappo", **changes):
    """One stage and a constant rate, so that a longer run begins as a shorter one does."""
    usual = small_experiment(method, **{"episodes": 6, "curriculum": PAIRS, **changes})
    return replace(usual, recipe=replace(usual.recipe, learning_rate_schedule="constant"))


def train(experiment, folder, origin=None, habits=HABITS, watcher=None):
    arena = CompiledArena(make_game(experiment))
    return training.train(experiment, arena, folder, habits, watcher, origin)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return train(tiny(), tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture
def short(finished, tmp_path):
    """A finished run of its own for a test to change."""
    return RunFolder(shutil.copytree(finished.path, tmp_path / "short"))


def test_a_longer_run_goes_on_where_the_shorter_one_ended(short, tmp_path, capsys):
    (short.path / "scores.csv").write_text("of the old policy")
    train(tiny(episodes=12), short.path)
    assert "goes on from 6 to 12 episodes" in capsys.readouterr().err
    assert not (short.path / "scores.csv").exists()
    assert not list(short.path.glob("before-*"))
    assert [line["episodes"] for line in read_metrics(short.metrics)] == [3, 6, 9, 12]
    assert short.experiment().lengthened_from == (6,)
    whole = train(tiny(episodes=12), tmp_path / "whole")
    # With a constant rate and one stage, it is what it would have been from the beginning.
    assert whole.metrics.read_bytes() == short.metrics.read_bytes()
    for name, array in read_file(whole.final)[0].items():
        assert np.array_equal(array, read_file(short.final)[0][name]), name
    load_policy(short.path)
    train(tiny(episodes=12), short.path)  # already finished
    assert capsys.readouterr().err == ""
    with pytest.raises(BadInput, match="holds another experiment"):
        train(tiny(episodes=6), short.path)


@pytest.mark.parametrize("every", [0, 4])
def test_a_finished_run_gets_longer_from_its_very_end_however_seldom_it_was_saved(tmp_path, capsys, every):
    habits = replace(HABITS, checkpoint_every=every)
    run = train(tiny(), tmp_path / "run", habits=habits)
    assert max(file.stem for file in run.checkpoints.iterdir()) == "000000002"
    before = run.metrics.read_bytes()
    train(tiny(episodes=9), run.path)
    assert "goes on from 6 to 9 episodes" in capsys.readouterr().err
    assert run.metrics.read_bytes().startswith(before)


def test_a_finished_run_is_kept_whole_until_the_longer_one_is_finished(short, capsys):
    (short.path / "scores.csv").write_text("of the old policy")
    before = files_of(short.path)
    with pytest.raises(Interrupted):
        train(tiny(episodes=12), short.path, watcher=StopAfter(3))
    kept = short.path / "before-6"
    assert f"the run that was finished stays in {kept}" in capsys.readouterr().err
    assert files_of(kept) == before
    load_policy(kept)
    with pytest.raises(BadInput, match=r"what it was before it got longer is in .*before-6"):
        train(tiny(), short.path)
    train(tiny(episodes=12), short.path)
    assert not kept.exists()


def test_what_is_kept_of_a_run_is_not_taken_for_a_run_among_others(short):
    kept = keep_finished(short.path, 6)
    assert find_policies((short.path.parent,))[0] == [short.path]
    assert [run.folder.path for run in find_runs([short.path.parent]).all] == [short.path]
    assert find_policies((kept,))[0] == [kept]  # unless it is named
    assert [run.folder.path for run in find_runs([kept]).all] == [kept]


def files_of(folder):
    """All that a run is made of."""
    inside = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {name: (folder / name).read_bytes() for name in inside if name.name != "lock"}


def test_what_got_longer_twice_is_still_known_by_its_beginnings():
    once = lengthened(tiny(episodes=6), tiny(episodes=9), Path("run"))
    twice = lengthened(once, tiny(episodes=12), Path("run"))
    assert twice.lengthened_from == (6, 9)
    assert is_earlier(tiny(episodes=6), twice)
    assert is_earlier(once, twice)
    assert not is_earlier(tiny(episodes=9), twice)  # another run's checkpoint
    assert lengthened(once, tiny(episodes=9), Path("run")) is None


def test_a_run_that_cannot_get_longer_says_why_and_stays_as_it_is(short):
    before = {path: path.read_bytes() for path in short.path.iterdir() if path.is_file()}
    with pytest.raises(BadInput, match="holds another experiment"):
        train(tiny(episodes=12, seed=1), short.path)
    for file in short.checkpoints.iterdir():
        file.unlink()
    with pytest.raises(BadInput, match="has no checkpoint to go on from"):
        train(tiny(episodes=12), short.path)
    assert {path: path.read_bytes() for path in short.path.iterdir() if path.is_file()} == before


def test_a_run_whose_last_update_was_shorter_cannot_get_longer(tmp_path):
    run = RunFolder(tmp_path)
    run.create()
    run.adopt(tiny(episodes=7), {"versions": {}})
    with pytest.raises(BadInput, match="no multiple of the 3 of an update"):
        run.adopt(tiny(episodes=12), {"versions": {}})


def test_a_run_begins_with_another_ones_policy_and_says_so(finished, tmp_path):
    policy = load_policy(finished.path)
    experiment = replace(tiny(seed=3), origin=origin_of(policy))
    task = make_game(experiment)
    fresh = training.algorithm_of(experiment).fresh(experiment, task)
    begun = begun_with(fresh, experiment, policy)
    for name, array in named_arrays(policy.actor).items():
        assert np.array_equal(array, named_arrays(begun.networks.actor)[name]), name
    assert jax.tree.structure(begun) == jax.tree.structure(fresh)
    run = train(experiment, tmp_path / "tuned", policy)
    told = json.loads(run.experiment_file.read_text())["experiment"]["origin"]
    assert (told["task"], told["method"], told["seed"], told["episodes"]) == ("spread", "mappo", 0, 6)
    assert load_policy(run.path).experiment == experiment
    with pytest.raises(BadInput, match="holds another experiment"):
        train(replace(experiment, origin=None), run.path)


def test_a_policy_that_does_not_fit_or_is_not_named_is_refused(finished, tmp_path):
    policy = load_policy(finished.path)
    other = replace(tiny(), origin=origin_of(policy), actor=replace(tiny().actor, rnn_dim=7))
    with pytest.raises(BadInput, match=r"does not fit this run: .* is \[.*\] in it, not"):
        train(other, tmp_path / "other", policy)
    assert not (tmp_path / "other").exists()  # the mended command can have the folder
    with pytest.raises(BadInput, match="name it again with --from"):
        train(replace(tiny(), origin=origin_of(policy)), tmp_path / "unnamed")


def test_a_context_method_begins_with_the_teacher_too_and_a_plain_one_does_not_fit(tmp_path):
    policy = untrained_policy(tiny("pc3d"), tmp_path / "policy.safetensors")
    experiment = replace(tiny("pc3d", seed=1, rosters=Rosters(train=(1, 2))), origin=origin_of(policy))
    fresh = training.algorithm_of(experiment).fresh(experiment, make_game(experiment))
    begun = begun_with(fresh, experiment, policy)
    assert np.array_equal(begun.averaged_teacher.queries, policy.networks.teacher.queries)
    assert np.array_equal(begun.networks.critic.held_teacher.queries, policy.networks.teacher.queries)
    with pytest.raises(BadInput, match="does not fit"):
        train(replace(tiny(), origin=origin_of(policy)), tmp_path / "plain", policy)


def untrained_policy(experiment, file):
    """What a run would leave that learned nothing."""
    task, algorithm = make_game(experiment), training.algorithm_of(experiment)
    networks = algorithm.policy(algorithm.fresh(experiment, task))
    save_tree(file, networks, policy_description(experiment, task.return_definition))
    return load_policy(file)
