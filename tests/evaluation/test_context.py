"""What goes on inside: alignment, gates, and what happens when the gate is forced."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.evaluation.context import context_summary, with_gate
from pc3d.evaluation.recording import ContextUse, Recording, record
from pc3d.networks.build import PolicyNetworks
from pc3d.networks.conditioning import ContextConditioning, HeadShape, PolicyOutput
from pc3d.networks.context_health import cosine
from pc3d.networks.layers import Dense
from pc3d.networks.teacher import Reading
from pc3d.play.actor_team import ActorTeam
from pc3d.play.arena import CompiledArena
from pc3d.play.scores import score
from pc3d.play.starts import rollout_keys
from tests.evaluation.policies import small_policy


def test_the_cosine_is_of_the_angle_alone():
    one = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    other = np.array([[3.0, 0.0], [0.0, -1.0], [1.0, 1.0]])
    np.testing.assert_allclose(cosine(one, other), [1, -1, 0])


@pytest.mark.parametrize("method", ["pc3d", "hyper-pc3d"])
def test_a_forced_gate_is_shut_or_open_and_changes_nothing_else(method):
    policy = small_policy("spread", method)
    features = jax.random.normal(jax.random.key(1), (5, policy.experiment.actor.rnn_dim))
    free, shut, wide = (
        with_gate(policy.actor, mode).conditioning(features) for mode in ("adaptive", "off", "on")
    )
    np.testing.assert_array_equal(free.logits, policy.actor.conditioning(features).logits)
    np.testing.assert_array_equal(shut.gate, np.zeros(5))
    np.testing.assert_array_equal(wide.gate, np.ones(5))
    np.testing.assert_array_equal(shut.context, free.context)
    assert not np.allclose(shut.logits, wide.logits)


class AddedContext(ContextConditioning):
    """A conditioning that the package does not know."""

    to_logits: Dense

    def __init__(self, key, shape, student):
        self.student = student
        self.to_logits = Dense(key, student.to_context.bias.size, shape.actions)

    def __call__(self, features):
        context, gate = self.student.context(features), self.student.gate(features)
        return PolicyOutput(gate[..., None] * self.to_logits(context), context, gate)


def test_the_gate_of_any_conditioning_with_a_context_can_be_forced():
    actor = small_policy("spread", "pc3d").actor
    width = actor.conditioning.to_modulation.bias.size // 2
    own = AddedContext(jax.random.key(2), HeadShape(width, 5), actor.conditioning.student)
    actor = eqx.tree_at(lambda actor: actor.conditioning, actor, own)
    shut = with_gate(actor, "off")
    assert actor.conditioning.student.mode == "adaptive"
    np.testing.assert_array_equal(shut.conditioning(jnp.ones((3, width))).logits, 0)
    assert jax.tree.structure(with_gate(shut, "adaptive")) == jax.tree.structure(actor)


@pytest.fixture(scope="module")
def recording():
    return record(three_wide(), small_policy().networks, rollout_keys(2, 4), 2)


def three_wide() -> CompiledArena:
    return CompiledArena(small_policy().task.with_slots(3))


def test_a_recording_agrees_with_the_scores_and_with_itself(recording):
    scores = score(three_wide(), ActorTeam(small_policy().actor), 2, 4)
    np.testing.assert_allclose(recording.returns, scores.returns, rtol=1e-5)
    episode = recording.one(1)
    np.testing.assert_array_equal(episode.states.time, np.arange(len(episode.rewards) + 1))
    assert episode.context.gate.shape == (len(episode.rewards), 2)


def test_alignment_is_measured_against_the_averaged_teacher(recording):
    networks = small_policy().networks
    deaf = PolicyNetworks(networks.actor, jax.tree.map(jnp.zeros_like, networks.teacher))
    unaligned = record(three_wide(), deaf, rollout_keys(2, 4), 2)
    np.testing.assert_array_equal(unaligned.context.alignment, 0)
    assert recording.context.alignment.shape == recording.context.gate.shape
    assert np.all(np.abs(recording.context.alignment) <= 1 + 1e-6)
    assert np.any(recording.context.alignment != 0)


def test_a_method_without_contexts_has_none():
    policy = small_policy("spread", "mappo")
    arena = CompiledArena(policy.task.with_slots(2))
    assert record(arena, policy.networks, rollout_keys(2, 1), 2).context is None


def one_token(shape):
    """A teacher with one token, (1, 0), for everybody."""
    *moment, agents, _ = shape
    token = np.broadcast_to([1.0, 0.0], (*moment, 1, 2))
    attention = np.full((*moment, agents, 1), 1 / agents)
    return Reading(attention, token, np.ones_like(attention), np.broadcast_to([1.0, 0.0], shape))


def test_the_summary_counts_only_decisions_that_were_made():
    """Two agents in three slots; every second episode ends after one step. The rest is poison."""
    played = np.array([[True, True, False], [True, False, False]] * 2)
    gate = np.full((4, 3, 3), np.nan)
    gate[::2, :2, :2] = [[0.2, 0.4], [0.6, 0.8]]
    gate[1::2, 0, :2] = [0.9, 0.9]
    returns = np.array([1.0, 3.0] * 2)
    context = np.stack([gate, np.sqrt(1 - gate**2)], axis=-1)  # its cosine to (1, 0) is the gate
    use = ContextUse(gate, context, one_token(context.shape))
    present = np.tile([True, True, False], (4, 4, 1))
    recording = Recording(2, None, present, played, np.zeros((4, 3)), returns, use)
    summary = context_summary(small_policy(), three_wide(), recording, greedy=False)
    assert summary["gate_mean"] == pytest.approx(3.8 / 6)
    assert summary["alignment"] == pytest.approx(3.8 / 6)
    assert summary["alignment_by_step"] == pytest.approx([2.4 / 4, 0.7])
    assert summary["gate_deviation"] == pytest.approx(np.std([0.2, 0.4, 0.6, 0.8]) / 2)
    assert summary["return"] == 2.0
    assert summary["split"] == "train"


def test_the_summary_passes_over_agents_that_are_not_there_yet():
    """The second agent joins after the first step; what its slot held before is poison."""
    gate = np.array([[[0.2, np.nan], [0.6, 0.8]]] * 4)
    context = np.stack([gate, np.sqrt(1 - gate**2)], axis=-1)
    use = ContextUse(gate, context, one_token(context.shape))
    present = np.array([[[True, False], [True, True], [True, True]]] * 4)
    recording = Recording(1, None, present, np.ones((4, 2), bool), np.zeros((4, 2)), np.zeros(4), use)
    summary = context_summary(small_policy(), three_wide(), recording, greedy=False)
    assert summary["gate_mean"] == pytest.approx(1.6 / 3)
    assert summary["alignment"] == pytest.approx(1.6 / 3)
    assert summary["alignment_by_step"] == pytest.approx([0.2, 0.7])


def test_the_summary_tells_returns_with_the_gate_forced(recording):
    summary = context_summary(small_policy(), three_wide(), recording, greedy=False)
    shut = ActorTeam(with_gate(small_policy().actor, "off"))
    assert summary["return_gate_off"] == pytest.approx(score(three_wide(), shut, 2, 4).returns.mean())
    assert summary["return_gate_off"] != summary["return_gate_on"]
    assert summary["return"] == pytest.approx(recording.returns.mean())
