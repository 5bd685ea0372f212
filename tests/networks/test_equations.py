"""The modules against the paper's equations, transcribed independently."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.networks.build import build
from pc3d.networks.critics import TeamView
from pc3d.tasks.spread.world import Spread
from tests import paper_equations as paper
from tests.small import active_team, random_team, small_experiment

SLOTS, TEAM = 6, 4
TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def observations():
    return random_team(1, SLOTS, 16)


@pytest.fixture(params=[False, True], ids=["encodings as they are", "normalised encodings"])
def normalised(request):
    return request.param


def networks_of(method, *, normalised=False, **changes):
    experiment = small_experiment(method, **changes)
    critic = replace(experiment.critic, normalise_encodings=normalised)
    networks = build(jax.random.key(0), replace(experiment, critic=critic), Spread(10))
    # Gains near zero would hide mistakes in the conditioned path.
    return jax.tree.map(lambda leaf: leaf * 2 + 0.05, networks)


def view_of(observations):
    return TeamView(observations, active_team(TEAM, SLOTS))


def encodings_of(encoder, observations, *, normalised):
    encodings = np.array([paper.mlp(encoder, np.asarray(row, np.float64)) for row in observations[:TEAM]])
    if normalised:
        encodings -= encodings.mean(axis=-1, keepdims=True)
        encodings /= np.sqrt((encodings**2).mean(axis=-1, keepdims=True) + 1e-5)
    return encodings


def test_tokens_and_contexts_follow_the_two_attentions(observations, normalised):
    teacher, active = networks_of("pc3d", normalised=normalised).critic.teacher, active_team(TEAM, SLOTS)
    encodings = encodings_of(teacher.encoder, observations, normalised=normalised)
    tokens = paper.tokens(teacher.queries, encodings)
    contexts = [paper.teacher_context(encoding, tokens) for encoding in encodings]
    made, _ = teacher.tokens(teacher.encodings(observations), active)
    np.testing.assert_allclose(made, tokens, atol=TOLERANCE)
    np.testing.assert_allclose(teacher.read(observations, active).contexts[:TEAM], contexts, atol=TOLERANCE)


def test_the_token_value_is_the_head_on_concatenated_tokens_and_team_size(observations, normalised):
    critic = networks_of("pc3d", normalised=normalised).critic
    encodings = encodings_of(critic.teacher.encoder, observations, normalised=normalised)
    features = np.append(paper.tokens(critic.teacher.queries, encodings).ravel(), TEAM / 10)
    expected = paper.mlp(critic.head, features)[0]
    np.testing.assert_allclose(critic(view_of(observations)), expected, atol=TOLERANCE)


def test_the_pic_value_is_the_head_on_the_mean_encoding(observations, normalised):
    critic = networks_of("pic", normalised=normalised).critic
    encodings = encodings_of(critic.encoder, observations, normalised=normalised)
    expected = paper.mlp(critic.head, np.mean(encodings, axis=0))[0]
    np.testing.assert_allclose(critic(view_of(observations)), expected, atol=TOLERANCE)


def test_the_joint_value_sees_all_padded_observations_and_the_mask(observations):
    critic = networks_of("mappo").critic
    joint = np.zeros((10, 17))
    joint[:TEAM, :16], joint[:TEAM, 16] = observations[:TEAM], 1
    expected = paper.mlp(critic.head, joint.ravel())[0]
    np.testing.assert_allclose(critic(view_of(observations)), expected, atol=TOLERANCE)


@pytest.mark.parametrize(
    ("method", "logits_of"), [("pc3d", paper.film_logits), ("hyper-pc3d", paper.hyper_logits)]
)
@pytest.mark.parametrize("gate_scale", [1.0, 200.0])
def test_conditioned_logits_follow_context_reliance_and_gate(method, logits_of, gate_scale):
    experiment = small_experiment(method)
    conditioning = networks_of(method).actor.conditioning
    clip = experiment.distillation
    for features in np.asarray(random_team(2, 5, experiment.actor.rnn_dim), np.float64) * gate_scale:
        output = conditioning(jnp.asarray(features, jnp.float32))
        scale, offset = float(conditioning.student.gate_scale), float(conditioning.student.gate_offset)
        context, gate = paper.student(
            conditioning, features, clip.reliance_min, clip.reliance_max, scale, offset
        )
        np.testing.assert_allclose(output.context, context, rtol=1e-4, atol=TOLERANCE)
        np.testing.assert_allclose(output.gate, gate, atol=TOLERANCE)
        expected = logits_of(conditioning, features, context, gate)
        np.testing.assert_allclose(output.logits, expected, rtol=1e-4, atol=TOLERANCE)


def test_the_memory_over_time_is_the_step_repeated_and_the_equation():
    gru = networks_of("mappo").actor.memory
    inputs, memory = random_team(3, 7, 2, 12), random_team(4, 2, 10)
    together = gru.over_time(memory, inputs)
    alone = np.asarray(memory, np.float64)
    for moment in range(7):
        memory = gru.step(memory, inputs[moment])
        rows = zip(alone, np.asarray(inputs[moment], np.float64), strict=True)
        alone = np.array([paper.gru(gru, row, value) for row, value in rows])
        np.testing.assert_allclose(together[moment], memory, atol=TOLERANCE)
        np.testing.assert_allclose(together[moment], alone, atol=TOLERANCE)


def test_the_written_derivative_of_the_memory_is_the_automatic_one():
    gru = networks_of("mappo").actor.memory
    inputs, memory, weights = random_team(3, 7, 2, 12), random_team(4, 2, 10), random_team(5, 7, 2, 10)

    def written(gru, memory, inputs):
        return jnp.sum(weights * gru.over_time(memory, inputs))

    def automatic(gru, memory, inputs):
        def moment(memory, value):
            memory = gru.step(memory, value)
            return memory, memory

        return jnp.sum(weights * jax.lax.scan(moment, memory, inputs)[1])

    found = jax.grad(written, argnums=(0, 1, 2))(gru, memory, inputs)
    expected = jax.grad(automatic, argnums=(0, 1, 2))(gru, memory, inputs)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
