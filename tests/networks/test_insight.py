"""What actors are told of their team: its equations, and order and padding that do not matter."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.networks.build import build, build_student
from pc3d.networks.critics import TeamView, beside
from pc3d.networks.joined import joined
from pc3d.networks.seating import NOBODY, Seating
from pc3d.tasks.spread.world import Spread
from tests.small import active_team, random_team, small_experiment

SLOTS = 5


@pytest.fixture(scope="module")
def attention():
    return build(jax.random.key(0), small_experiment("ctds"), Spread(10)).insight


@pytest.fixture(scope="module")
def personal():
    return build(jax.random.key(0), small_experiment("ptde"), Spread(10))


def dense(layer, values):
    return values @ np.asarray(layer.weight) + np.asarray(layer.bias)


def encoding(mlp, observation):
    for layer in mlp.layers[:-1]:
        observation = np.maximum(dense(layer, observation), 0)
    return dense(mlp.layers[-1], observation)


def test_personal_information_is_its_equation_agent_by_agent(personal):
    insight, features, seen = personal.insight, random_team(0, SLOTS, 10), random_team(1, SLOTS, 16)
    found = insight.information(features, TeamView(seen, active_team(3, SLOTS)))
    team = np.mean([encoding(insight.encoder, np.asarray(seen[agent])) for agent in range(3)], axis=0)
    for agent in range(3):
        made = dense(insight.to_information, np.asarray(features[agent])).reshape(4, 7)  # W and b
        np.testing.assert_allclose(found[agent], made[:, :6] @ team + made[:, 6], rtol=1e-4, atol=1e-5)


def test_personal_information_moves_with_its_agent_and_padding_does_not_matter(personal):
    insight, features, seen = personal.insight, random_team(0, 3, 10), random_team(1, 3, 16)
    found = insight.information(features, TeamView(seen, jnp.ones(3, bool)))
    order = jnp.array([2, 0, 1])
    other = insight.information(features[order], TeamView(seen[order], jnp.ones(3, bool)))
    np.testing.assert_allclose(other, found[order], atol=1e-5)
    nonsense = jnp.full((2, 16), jnp.nan)
    wide = TeamView(jnp.concatenate([seen, nonsense]), active_team(3, SLOTS))
    padded = insight.information(jnp.concatenate([features, jnp.zeros((2, 10))]), wide)
    np.testing.assert_allclose(padded[:3], found, atol=1e-6)


def test_agents_in_rows_are_told_what_they_are_told_in_slots(personal):
    insight, features, seen = personal.insight, random_team(0, 2, 3, 10), random_team(1, 2, 3, 16)
    present = jnp.array([[True, True, False], [True, True, True]])
    by_slot = insight.information(features, TeamView(seen, present))
    places = jnp.array([4, 0, 3, 1, 5, NOBODY])  # team * slots + agent
    rows = {int(place): row for row, place in enumerate(places[:-1])}
    seats = jnp.array([[rows.get(team * 3 + agent, 0) for agent in range(3)] for team in range(2)])
    in_rows = [part.reshape(6, -1)[places] for part in (features, seen)]
    by_row = insight.information(in_rows[0], TeamView(in_rows[1], present, seating=Seating(seats, places)))
    np.testing.assert_allclose(by_row[:-1], by_slot.reshape(6, -1)[places[:-1]], atol=1e-5)


def test_an_actor_and_its_student_are_one_plain_actor(personal):
    experiment = small_experiment("ptde")
    student = build_student(jax.random.key(1), experiment, Spread(10))
    student = jax.tree.map(lambda leaf: leaf + 0.1, student)  # biases, too
    one = joined(personal.actor, student)
    own, of_student, memory = (actor.first_memory(4) for actor in (personal.actor, student, one))

    @jax.jit
    def moment(own, of_student, memory, seen):
        own, (of_student, said) = personal.actor.recall(own, seen), student.step(of_student, seen)
        expected = personal.actor.says(beside(own, said.logits)).logits
        memory, found = one.step(memory, seen)
        return (own, of_student, memory), expected, found.logits

    memories = own, of_student, memory
    for seen in random_team(2, 6, 4, 16):
        memories, expected, found = moment(*memories, seen)
        np.testing.assert_allclose(found, expected, atol=1e-6)
    assert float(jnp.ptp(expected)) > 1e-3


def test_attention_over_the_team_is_its_equation_agent_by_agent(attention):
    seen, width = random_team(0, SLOTS, 16), 6
    found = eqx.filter_jit(attention.beside_observations)(seen, active_team(3, SLOTS))
    np.testing.assert_array_equal(found[:3, :16], seen[:3])
    made = [encoding(attention.encoder, np.asarray(seen[agent])) for agent in range(3)]
    keys, values = (
        np.array([dense(to, one) for one in made]) for to in (attention.to_key, attention.to_value)
    )
    for agent in range(3):
        weights = np.exp(keys @ dense(attention.to_query, made[agent]) / np.sqrt(width))
        np.testing.assert_allclose(found[agent, 16:], weights @ values / weights.sum(), rtol=1e-4, atol=1e-5)


def test_attention_moves_with_its_agent_and_padding_does_not_matter(attention):
    seen, order, ask = (
        random_team(0, 3, 16),
        jnp.array([2, 0, 1]),
        eqx.filter_jit(attention.beside_observations),
    )
    found = ask(seen, jnp.ones(3, bool))
    np.testing.assert_allclose(ask(seen[order], jnp.ones(3, bool)), found[order], atol=1e-5)
    wide = jnp.concatenate([seen, jnp.full((2, 16), jnp.nan)])
    np.testing.assert_allclose(ask(wide, active_team(3, SLOTS))[:3], found, atol=1e-6)
