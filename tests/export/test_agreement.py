"""Exported and in-package policies say the same over whole episodes, each carrying its own memory."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.experiment.execution import ALONE
from pc3d.experiment.methods import METHODS, method_named
from pc3d.experiment.recipe import Recipe
from pc3d.export.description import describe
from pc3d.export.plain_actor import plain_actor
from pc3d.export.runtime import OnnxActor, OnnxTeam
from pc3d.play.actor_team import ActorTeam
from pc3d.play.arena import CompiledArena
from pc3d.play.choosing import choose
from pc3d.play.scores import score
from pc3d.play.team import Decision, View
from pc3d.presets import paper as experiments
from pc3d.runs.checkpoint import to_bytes
from pc3d.tasks.registry import TASKS
from tests.export.policies import as_onnx, example, small_policy, write_policy
from tests.small import FLAT_METHODS, KINDS, small_experiment

TOLERANCE = 1e-5
DECENTRALIZED = [name for name in FLAT_METHODS if METHODS[name].execution.decentralized]
MEMORY_TOLERANCE = 3e-5  # single numbers of a wide memory are rounded further apart than what comes of them
TEAM_SIZE = 3
# A task is no more than two widths to an actor: what two kinds show on all three, the others show on one.
ON_ALL = ("pc3d", "pc3d-qmix")
EVERYWHERE = [
    pytest.param(
        task, name, marks=[] if name in KINDS and (task == "spread" or name in ON_ALL) else pytest.mark.slow
    )
    for task in TASKS
    for name in DECENTRALIZED
]


class ComparingTeam:
    """Acts as the package's actor does, and asks the exported ones what they would have done."""

    execution = ALONE

    def __init__(self, policy, folder):
        plain = plain_actor(policy.actor)
        weights = folder / "policy.safetensors"
        weights.write_bytes(to_bytes(plain.weights, describe(policy, plain)))
        self.actor, self.onnx = policy.actor, OnnxActor(as_onnx(policy))
        self.numpy = example("numpy_policy").NumpyPolicy(str(weights))
        self.memory, self.onnx_memory = self.actor.first_memory(TEAM_SIZE), self.onnx.first_memory(TEAM_SIZE)
        self.numpy_memory = [self.numpy.start] * TEAM_SIZE
        self.largest_difference = 0.0
        self.probabilities, self.gates, self.contexts = [], [], []

    def first(self, episodes, slots):
        assert (episodes, slots) == (1, TEAM_SIZE)  # all keep their memories here, to compare them

    def step(self, memory, view, chances):
        seen = np.asarray(view.observations[0], np.float32)
        self.memory, policy, probabilities, actions = decide(self.actor, self.memory, seen, chances[0])
        self.compare_onnx(seen, policy, probabilities)
        self.compare_numpy(seen, probabilities)
        self.probabilities.append(probabilities)
        return memory, Decision(actions[None])

    def compare_onnx(self, seen, policy, probabilities):
        said = self.onnx.step(seen, self.onnx_memory)
        self.onnx_memory = said.memory
        self.compare_memory(said.memory)
        self.compare(said.probabilities, probabilities)
        assert (said.context is None) == (policy.context is None)
        if said.context is not None:
            self.compare(said.context, policy.context)
            self.compare(said.gate[:, 0], policy.gate)
            self.contexts.append(said.context)
            self.gates.append(said.gate)

    def compare_numpy(self, seen, probabilities):
        said = [self.numpy.step(*row) for row in zip(seen, self.numpy_memory, strict=True)]
        self.numpy_memory = [memory for _, memory in said]
        self.compare_memory(np.stack(self.numpy_memory))
        self.compare(np.stack([likely for likely, _ in said]), probabilities)

    def compare_memory(self, memory):
        np.testing.assert_allclose(memory, self.memory, rtol=0, atol=MEMORY_TOLERANCE)

    def compare(self, one, other):
        assert one.shape == other.shape
        self.largest_difference = max(self.largest_difference, float(np.abs(one - other).max()))


def decide(actor, memory, observations, chances):
    return jax.device_get(_decide(actor, memory, observations, chances))


@jax.jit
def _decide(actor, memory, observations, chances):
    memory, policy = actor.step(memory, observations)
    if actor.values_actions:
        best = jnp.argmax(policy.logits, axis=-1)
        return memory, policy, jax.nn.one_hot(best, policy.logits.shape[-1]), best
    return memory, policy, jax.nn.softmax(policy.logits), choose(policy.logits, chances)[0]


def play(policy, folder) -> ComparingTeam:
    team = ComparingTeam(policy, folder)
    score(CompiledArena(policy.task.with_slots(TEAM_SIZE)), team, TEAM_SIZE, rollouts=1)
    return team


@pytest.mark.parametrize(("task", "method"), EVERYWHERE)
def test_exported_policies_agree_over_whole_episodes(task, method, tmp_path):
    team = play(small_policy(tmp_path / "policy", task, method), tmp_path)
    assert team.largest_difference <= TOLERANCE
    if not method_named(
        method
    ).algorithm.values_actions:  # of a greedy one, a favourite may win every time: that is tried below
        assert np.ptp(team.probabilities, axis=0).max() > 0.3  # the policy reacts to what it sees
    if method_named(method).has_context:
        assert np.abs(team.contexts).max() > 0.3
        check_gates(method, np.array(team.gates))


def test_a_policy_that_sends_messages_is_exported_as_the_step_of_a_team(tmp_path):
    policy, random = small_policy(tmp_path / "policy", "spread", "graph"), np.random.default_rng(0)
    seen, memory = (random.normal(size=(4, width)).astype(np.float32) for width in (16, 10))
    links = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 0], [0, 0, 0, 1]], bool)
    exported = OnnxActor(as_onnx(policy)).step(seen, memory, links=links)
    expected, likely = jax.jit(said_among)(policy.actor, memory, seen, links)
    np.testing.assert_allclose(exported.memory, expected, atol=MEMORY_TOLERANCE)
    assert np.abs(exported.probabilities - likely).max() <= TOLERANCE
    alone = OnnxActor(as_onnx(policy)).step(seen, memory).probabilities
    assert np.abs(alone[:3] - likely[:3]).max() > 0.01
    np.testing.assert_allclose(alone[3], likely[3], atol=TOLERANCE)  # whom nobody hears, and who hears nobody


def said_among(actor, memory, seen, links):
    memory = actor.recall(memory, seen)
    return memory, jax.nn.softmax(actor.says_among(memory, links)[0].logits)


@pytest.mark.parametrize("method", ["vdn", "pc3d-qmix"])
def test_a_greedy_policy_is_exported_as_one_and_takes_the_same_actions(tmp_path, method):
    policy = small_policy(tmp_path / "policy", "spread", method)
    random, plain, weights = np.random.default_rng(0), plain_actor(policy.actor), tmp_path / "weights"
    weights.write_bytes(to_bytes(plain.weights, describe(policy, plain)))
    seen = 3 * random.normal(size=(200, 16)).astype(np.float32)
    memory = random.normal(size=(200, 10)).astype(np.float32)
    _, said = policy.actor.step(jnp.asarray(memory), jnp.asarray(seen))
    best = np.asarray(said.logits).argmax(axis=-1)
    assert len(set(best)) > 1
    expected = np.eye(said.logits.shape[-1])[best]
    np.testing.assert_array_equal(OnnxActor(as_onnx(policy)).step(seen, memory).probabilities, expected)
    reader = example("numpy_policy").NumpyPolicy(str(weights))
    found = [reader.step(*row)[0] for row in zip(seen, memory, strict=True)]
    np.testing.assert_array_equal(found, expected)
    assert "worth most" in reader.about["choosing"]


def check_gates(method, gates):
    if method in ("gate-on", "gate-off"):
        assert (gates == (method == "gate-on")).all()
    else:
        assert np.ptp(gates) > 0.1  # the gate reacts, too


def test_a_tanh_policy_agrees(tmp_path):
    recipe = Recipe(activation="tanh", hypernetwork_widths=(12, 10))
    policy = write_policy(tmp_path / "policy", small_experiment("hyper-pc3d", recipe=recipe))
    assert play(policy, tmp_path).largest_difference <= TOLERANCE


def test_rows_of_a_batch_do_not_change_each_other(tmp_path):
    policy = small_policy(tmp_path / "policy", "spread", "hyper-pc3d")
    actor = OnnxActor(as_onnx(policy))
    random = np.random.default_rng(0)
    seen = random.normal(size=(5, 16)).astype(np.float32)
    memory = random.normal(size=(5, 10)).astype(np.float32)
    together = actor.step(seen, memory)
    alone = [actor.step(seen[row : row + 1], memory[row : row + 1]) for row in range(5)]
    np.testing.assert_allclose(
        together.probabilities, np.concatenate([said.probabilities for said in alone]), atol=1e-6
    )


def test_an_exported_agent_that_joins_a_team_remembers_nothing_as_the_packages_own(tmp_path):
    policy = small_policy(tmp_path / "policy", "spread", "pc3d")
    random, joined = np.random.default_rng(0), np.array([[True, False, False], [False, False, True]])
    seen = random.normal(size=(2, TEAM_SIZE, 16)).astype(np.float32)
    memory = random.normal(size=(2, TEAM_SIZE, 10)).astype(np.float32)
    view, chances = View(seen, np.ones((2, TEAM_SIZE), bool), joined), random.random((2, TEAM_SIZE))
    own = eqx.filter_jit(ActorTeam(policy.actor).step)
    expected, decided = own(memory, view, chances)
    remembered, said = OnnxTeam(OnnxActor(as_onnx(policy))).step(memory.reshape(6, 10), view, chances)
    np.testing.assert_allclose(remembered.reshape(2, TEAM_SIZE, 10), expected, atol=MEMORY_TOLERANCE)
    np.testing.assert_array_equal(said.actions, decided.actions)


@pytest.mark.slow
@pytest.mark.parametrize("method", DECENTRALIZED)
@pytest.mark.parametrize("task", TASKS)
def test_networks_of_the_papers_size_agree_over_whole_episodes(task, method, tmp_path):
    policy = write_policy(tmp_path / "policy", experiments.paper(task, method))
    assert play(policy, tmp_path).largest_difference <= TOLERANCE
    most = 3 if method == "ptde" else 2  # two actors as blocks of one
    assert len(as_onnx(policy)) < most * 2**20
