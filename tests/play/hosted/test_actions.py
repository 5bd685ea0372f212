"""Real numbers and masks through worlds on the host: training, scoring, loading; and who refuses them."""

import csv

import numpy as np
import pytest

import pc3d
from pc3d.cli import main
from pc3d.evaluation.references import RandomTeam
from pc3d.experiment.ppo_settings import PpoSettings
from pc3d.play.loop import play_on_host
from pc3d.play.opening import open_arena
from pc3d.play.starts import rollout_keys
from pc3d.system.errors import BadInput
from tests.play.hosted.tiny import SIZES, TINY

HERE = "tests.play.hosted.sample_task"
SEEN = np.array([[0.3, -0.1], [0.2, 0.4]])


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folders = {name: tmp_path_factory.mktemp(name) / "run" for name in ("Continuous", "MaskedViews")}
    for name, folder in folders.items():
        assert main(["train", f"{HERE}:{name}", "pc3d", *SIZES, *TINY, "--folder", str(folder)]) == 0
    return folders


@pytest.mark.parametrize("name", ["Continuous", "MaskedViews"])
@pytest.mark.parametrize("actions", ["sampled", "greedy"])
def test_a_policy_is_scored_in_worlds_that_refuse_what_is_not_allowed(runs, name, actions):
    words = ["--task", f"{HERE}:{name}", "--rollouts", "3", "--context-rollouts", "2", "--actions", actions]
    assert main(["evaluate", str(runs[name]), *words]) == 0
    with open(runs[name] / "scores.csv", newline="") as file:
        assert {row["team_size"] for row in csv.DictReader(file)} == {"2", "3", "4"}


def test_a_loaded_policy_says_numbers_within_the_bounds(runs):
    policy = pc3d.load(runs["Continuous"])
    actions = policy.players(2).act(SEEN)
    assert actions.shape == (2, 1)
    assert actions.dtype == np.float32
    assert np.all(np.abs(actions) <= 0.1)
    assert policy.agent(seed=3).act(SEEN[0]).shape == (1,)
    calm = policy.agent(greedy=True)
    assert calm.act(SEEN[0]) != policy.agent(seed=3).act(SEEN[0])  # the middle, and a draw around it
    with pytest.raises(BadInput, match="actions are real numbers, which no mask forbids"):
        calm.act(SEEN[0], [1])


def test_a_loaded_policy_heeds_masks(runs):
    players = pc3d.load(runs["MaskedViews"]).players(2)
    only = np.array([[0, 0, 1], [1, 0, 0]])
    assert all(players.act(SEEN, only).tolist() == [2, 0] for _ in range(20))
    assert {tuple(players.act(SEEN)) for _ in range(50)} > {(2, 0)}  # without one, anything is allowed
    with pytest.raises(BadInput, match="the mask of agent 1 allows no action"):
        players.act(SEEN, [[1, 0, 0], [0, 0, 0]])
    with pytest.raises(BadInput, match="3 zeros and ones for each"):
        players.act(SEEN, [[1, 0], [0, 1]])


@pytest.mark.parametrize("name", ["Continuous", "MaskedViews"])
def test_a_team_that_acts_by_chance_is_allowed_what_it_does(runs, name):
    policy = pc3d.load(runs[name])
    with open_arena(policy.experiment, f"{HERE}:{name}") as arena:
        team = RandomTeam(arena.game.action_space)
        episodes = play_on_host(arena.worlds(), team, rollout_keys(2, 3), np.full(3, 2))
    assert episodes.actions.dtype == arena.game.action_space.dtype
    assert len(np.unique(episodes.actions)) > 2


def test_a_method_that_values_actions_refuses_real_numbers(tmp_path, capsys):
    words = [*SIZES, "--episodes", "4", "--folder", str(tmp_path / "run")]
    assert main(["train", f"{HERE}:Continuous", "vdn", *words]) == 2
    refused = capsys.readouterr().err
    assert "vdn chooses among a few actions, and those of" in refused
    assert refused.count("\n") == 1


def test_an_algorithm_that_heeds_no_masks_refuses_them(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(PpoSettings, "heeds_masks", False)
    words = [*SIZES, "--episodes", "4", "--folder", str(tmp_path / "run")]
    assert main(["train", f"{HERE}:Masked", "mappo", *words]) == 2
    assert "mappo does not heed masks" in capsys.readouterr().err


def test_a_method_that_values_actions_heeds_masks_in_worlds_on_the_host(tmp_path):
    words = [*SIZES, "--episodes", "8", "--q.update-every-episodes", "4", "--q.batch-size", "4"]
    sizes = ["--actor.widths", "8", "--actor.rnn-dim", "6", "--tensorboard", "False"]
    folder = ["--folder", str(tmp_path / "run")]
    assert main(["train", f"{HERE}:Masked", "vdn", *words, *sizes, *folder]) == 0
