"""Training with teams that change while they play: what is learned from, and what a run remembers of it."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from pc3d import cli
from pc3d.experiment.named_rosters import NAMED
from pc3d.experiment.roster_process import CONSTANT, Churn
from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.learners.registry import algorithm_of
from pc3d.learners.round import EpisodeBatch, play_round
from pc3d.play.arena import CompiledArena
from pc3d.presets.experiment_file import read_experiment, to_plain
from pc3d.presets.paper import paper
from pc3d.presets.preset_file import read_preset
from pc3d.runs.policy import load_policy
from pc3d.runs.run_folder import RunFolder
from pc3d.runs.train import train
from pc3d.tasks.make import make_task
from pc3d.tasks.spread.rules import SpreadRules
from tests.small import small_experiment

OFTEN = Churn(leave=0.2, join=0.3, smallest=1)


@lru_cache
def experiment():
    """IPPO's, whose values end with a departure."""
    return small_experiment(
        "ippo",
        rosters=Rosters(train=(2, 4)),
        curriculum=Curriculum((Stage(1.0, (2, 4), (0.5, 0.5)),)),
        rules=SpreadRules(horizon=8),
        episodes=6,
        roster=OFTEN,
    )


def arena_of(experiment):
    return CompiledArena(make_task(experiment)).with_roster(experiment.roster)


def batch_of(experiment, first=0):
    return EpisodeBatch.of(experiment.seed, range(first, first + 3), np.array([4, 2, 4]))


def test_who_plays_in_training_is_a_function_of_seed_and_number():
    arena = arena_of(experiment())
    learner = algorithm_of(experiment()).fresh(experiment(), arena.game)
    one, again, later = (
        np.asarray(play_round(experiment(), arena, learner, batch_of(experiment(), first)).present)
        for first in (0, 0, 3)
    )
    np.testing.assert_array_equal(one, again)
    assert (one != later).any()
    assert (one.sum(axis=2).min(), one.sum(axis=2).max()) == (1, 4)


def test_a_run_remembers_its_roster_and_its_policy_plays_constant_ones_if_nothing_is_said(tmp_path):
    run = train(experiment(), CompiledArena(make_task(experiment())), tmp_path)
    assert RunFolder(tmp_path).experiment() == experiment()
    assert load_policy(run.path).experiment.roster == OFTEN
    assert load_policy(run.path).task.roster == CONSTANT


@pytest.mark.parametrize("name", NAMED)
def test_an_experiment_survives_its_file(name):
    experiment = replace(paper("lbf", "pic"), roster=NAMED[name])
    assert read_experiment(to_plain(experiment), "here") == experiment


def test_a_constant_roster_is_written_as_before_there_were_others():
    assert "roster" not in to_plain(paper("spread", "pc3d"))


def test_rosters_and_horizons_are_options_of_training():
    from pc3d.cli.own_task import with_world
    from pc3d.cli.train import parse

    command = parse(["lbf", "pc3d", "--roster", "churn:leave=4", "--horizon", "100", "--respawn", "True"])
    experiment = with_world(command.experiment, command.horizon)
    assert experiment.roster == replace(NAMED["churn"], leave=4.0)
    assert (make_task(experiment).horizon, make_task(experiment).respawn) == (100, True)
    assert "100" not in make_task(paper("spread", "pc3d")).return_definition


def test_a_preset_file_may_name_a_roster(tmp_path):
    file = tmp_path / "changing.toml"
    file.write_text('task = "spread"\nmethod = "mappo"\nroster = "churn-slow"\n[ppo]\nepochs = 3\n')
    assert read_preset(file).applied(paper("spread", "mappo"), "here").roster == NAMED["churn-slow"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--roster", "gain-one"], "through size"),
        (["--roster", "lose-one"], "would empty a team of 1"),
        (["--roster", "replace-half:join=9,leave=1"], "through size"),
        (["--roster", "churn", "--backend", "original"], "keep their teams as they are"),
        (["--roster", "chrun"], "perhaps you meant churn"),
        (["--roster"], "needs a value"),
        (["--horizon", "0"], "horizon must be from 1"),
    ],
)
def test_what_cannot_be_trained_is_one_sentence(tmp_path, capsys, words, sentence):
    assert cli.main(["train", "spread", "mappo", "--folder", str(tmp_path / "run"), *words]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert sentence in errors
