"""`import pc3d`: train, evaluate, load, and a policy that plays one agent at a time or a whole team."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pc3d
from pc3d.evaluation.run import EvaluationSettings
from pc3d.experiment.rosters import Curriculum, Stage
from pc3d.runs.shipped import shipped_policies
from pc3d.runs.train import Habits
from pc3d.system.errors import BadInput
from pc3d.tasks.spread.world import Spread
from tests.small import small_experiment


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A short run through the front door."""
    stage = Stage(1.0, (2, 4, 6), (0.3, 0.3, 0.4))  # one program
    experiment = replace(small_experiment("pc3d"), episodes=6, curriculum=Curriculum((stage,)))
    experiment = replace(experiment, rosters=replace(experiment.rosters, train=(2, 4, 6), test=(9,)))
    return pc3d.train(experiment, tmp_path_factory.mktemp("run"), habits=Habits(tensorboard=False)).path


def test_a_run_is_trained_and_evaluated_in_its_own_folder(run):
    returns = pc3d.evaluate(run, settings=EvaluationSettings(rollouts=3, context_rollouts=2))
    assert list(returns) == [2, 3, 4, 5, 6, 7, 9]
    assert all(values.shape == (3,) for values in returns.values())
    assert (run / "scores.csv").exists()


def test_a_policy_outside_a_run_needs_a_place_for_its_scores(run, tmp_path):
    policy = tmp_path / "policy.safetensors"
    policy.write_bytes((run / "final.safetensors").read_bytes())
    settings = EvaluationSettings(rollouts=2, context_rollouts=2)
    with pytest.raises(BadInput, match="say where its scores should go"):
        pc3d.evaluate(policy, settings=settings, team_sizes=(2,))
    found = pc3d.evaluate(pc3d.load(policy), settings=settings, team_sizes=(2,), out=tmp_path / "scores")
    assert list(found) == [2]
    assert (tmp_path / "scores" / "scores.csv").exists()


def test_policies_that_come_with_pc3d_have_names():
    assert {"spread/pc3d", "lbf/pc3d", "rware/pc3d"} <= set(shipped_policies())
    policy = pc3d.load("rware/pc3d")
    assert (policy.experiment.task, policy.experiment.method) == ("rware", "pc3d")
    with pytest.raises(BadInput, match="perhaps you meant rware/pc3d"):
        pc3d.load("rware/pc3")


def test_a_folder_of_ones_own_adds_names_and_comes_first(run, tmp_path, monkeypatch):
    shipped = shipped_policies()["spread/pc3d"]
    for name in ("spread/pc3d", "mine/best"):
        place = tmp_path / name / "seed-0"
        place.mkdir(parents=True)
        (place / "final.safetensors").write_bytes((run / "final.safetensors").read_bytes())
    monkeypatch.setenv("PC3D_POLICIES", str(tmp_path))
    assert pc3d.load("mine/best").path == tmp_path / "mine/best/seed-0/final.safetensors"
    assert pc3d.load("spread/pc3d").path != shipped
    assert "lbf/pc3d" in shipped_policies()


def test_an_agent_plays_as_its_place_in_a_team_does(run):
    policy, sights = pc3d.load(run), np.random.default_rng(0).normal(size=(5, 3, 16)).astype(np.float32)
    team = policy.players(3, greedy=True)
    agents = [policy.agent(greedy=True) for _ in range(3)]
    for seen in sights:
        alone = [agent.act(one) for agent, one in zip(agents, seen, strict=True)]
        assert team.act(seen).tolist() == alone


def test_agents_remember_until_they_are_reset_and_draw_by_their_seed(run):
    policy, sights = pc3d.load(run), np.random.default_rng(1).normal(size=(30, 16))

    def played(agent):
        return [agent.act(seen) for seen in sights]

    one, same, other = policy.agent(seed=1), policy.agent(seed=1), policy.agent(seed=2)
    first = played(one)
    assert first == played(same)
    assert first != played(other)
    greedy = policy.agent(greedy=True)
    before = played(greedy)
    greedy.reset()
    assert played(greedy) == before


def test_a_team_of_any_size_plays_a_whole_episode(run):
    task = Spread(9)
    state, team = task.reset(jax.random.key(0), 9), pc3d.load(run).players(9)
    for _ in range(task.horizon):
        state, outcome = task.step(jax.random.key(0), state, jnp.asarray(team.act(task.observe(state))))
    assert bool(outcome.truncated)


@pytest.mark.parametrize("seen", [np.zeros(3), np.zeros((2, 16)), "sixteen"])
def test_a_wrong_observation_is_a_sentence(run, seen):
    with pytest.raises(BadInput, match=r"numbers"):
        pc3d.load(run).agent().act(seen)


@pytest.mark.parametrize("odd", [np.nan, np.inf, 1e300, 1j])
def test_an_observation_that_is_no_number_a_network_can_read_is_refused_and_remembered_by_nobody(run, odd):
    agent, other = (pc3d.load(run).agent(greedy=True) for _ in range(2))
    with pytest.raises(BadInput, match=r"finite"):
        agent.act(np.full(16, odd))
    assert agent.act(np.ones(16)) == other.act(np.ones(16))


def test_team_sizes_and_seeds_that_cannot_be_are_sentences(run):
    policy = pc3d.load(run)
    for size in (0, 2.5, "3", 10**12):
        with pytest.raises(BadInput, match=r"^the team size must be"):
            policy.players(size)
    for seed in (-1, "x"):
        with pytest.raises(BadInput, match=r"^seed must be"):
            policy.agent(seed=seed)
    with pytest.raises(BadInput, match=r"no team size"):
        pc3d.evaluate(policy, team_sizes=())


def test_a_policy_and_who_plays_it_say_in_a_line_what_they_are(run):
    policy = pc3d.load(run)
    said = f"Policy({str(policy.path)!r}: spread pc3d seed 0)"
    assert repr(policy) == said
    assert repr(policy.agent()) == "Agent(16 numbers seen, 5 actions)"
    assert repr(policy.players(3)) == "Players(3 agents, 16 numbers seen, 5 actions)"


WRONG_KINDS = {
    "seed 1.5": lambda usual: replace(usual, seed=1.5),
    "seed of NumPy": lambda usual: replace(usual, seed=np.int64(1)),
    "seed true": lambda usual: replace(usual, seed=True),
    "episodes as text": lambda usual: replace(usual, episodes="30"),
    "widths as a list": lambda usual: replace(usual, actor=replace(usual.actor, widths=[16, 12])),
    "a width of 16.5": lambda usual: replace(usual, actor=replace(usual.actor, widths=(16.5,))),
    "half an epoch": lambda usual: replace(usual, algorithm=replace(usual.algorithm, epochs=1.5)),
    "a rate as text": lambda usual: replace(usual, algorithm=replace(usual.algorithm, learning_rate="1")),
    "a word that is none": lambda usual: replace(usual, recipe=replace(usual.recipe, activation="rel")),
    "sizes that are not whole": lambda usual: replace(usual, rosters=replace(usual.rosters, test=(9.0, 10))),
}


@pytest.mark.parametrize("made", WRONG_KINDS.values(), ids=WRONG_KINDS)
def test_a_setting_of_the_wrong_kind_is_refused_before_a_folder_holds_what_nobody_can_read(made, tmp_path):
    with pytest.raises(BadInput, match=r"must be|there is no"):
        pc3d.train(made(small_experiment("mappo", episodes=2)), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_sentence_counts_one_agent_as_one(run):
    policy = pc3d.load(run)
    with pytest.raises(BadInput, match=r"^1 agent sees 16 numbers, not an array of shape \(1, 3\)$"):
        policy.agent().act(np.zeros(3))
    with pytest.raises(BadInput, match=r"^2 agents each see 16 numbers, not"):
        policy.players(2).act(np.zeros(3))


def test_a_folder_above_a_run_is_answered_with_the_run(tmp_path):
    run = tmp_path / "spread" / "pc3d" / "seed-0"
    run.mkdir(parents=True)
    (run / "experiment.json").touch()
    with pytest.raises(BadInput, match=re.escape(f"is no run, but {run} in it is: name that one")):
        pc3d.load(tmp_path)
    (run / "experiment.json").unlink()
    with pytest.raises(BadInput, match=r"is no run$"):
        pc3d.load(tmp_path)


def test_jax_that_was_started_otherwise_is_said_and_one_that_was_not_is_pinned():
    pinned = ("XLA_FLAGS", "NPROC")
    free = {name: value for name, value in os.environ.items() if name not in pinned}
    said = {}
    for start in ("import jax.numpy as jnp; jnp.ones(2) + 1", "import jax"):
        script = f"{start}\nimport pc3d, os\nprint(os.environ['NPROC'])"
        said[start] = subprocess.run(
            [sys.executable, "-c", script], env=free, capture_output=True, text=True, check=True
        )
    late, early = said.values()
    assert "import pc3d before JAX computes anything" in late.stderr
    assert not early.stderr
    assert early.stdout.split() == ["1"]
