"""HAPPO's turns: who learns when, what others' changes do to advantages, and PPO where all learn at once."""

from dataclasses import replace
from functools import lru_cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from pc3d.learners.happo.correction import changes_of, correction_measures, joint_ratio, limited
from pc3d.learners.happo.turns import deal, descend_in_turns
from pc3d.learners.ppo.descent import Course, Descent, over_epochs
from pc3d.learners.ppo.sequences import SequencePlan
from tests import paper_equations as equations
from tests.learners.ppo.test_objective import SIZES, compiled_objective, learn, played, prepared
from tests.learners.ppo.whole_updates import after_updates, assert_same_bits
from tests.small import HAPPO_METHODS, one_of_each_kind, random_team, small_experiment

compiled_changes = jax.jit(changes_of)


@lru_cache
def begun(method, **happo):
    """An experiment, its sequences, and an actor that is no longer the one that played them."""
    experiment = small_experiment(method)
    experiment = replace(experiment, algorithm=replace(experiment.algorithm, **happo))
    learner, episodes = played(experiment)
    sequences = prepared(experiment, learner, episodes)
    moved = jax.tree.map(
        lambda leaf: leaf + 0.2 * random_team(leaf.size, *leaf.shape), learner.networks.actor
    )
    return experiment, learner, sequences, moved


def log_probabilities(actor, observations):
    """Of one agent's actions, moment by moment: all of it in plain NumPy."""
    memory, said, head = np.zeros(actor.memory.width), [], actor.conditioning
    for seen in np.asarray(observations, np.float64):
        memory = equations.gru(actor.memory, memory, equations.mlp(actor.encoder, seen, activate_output=True))
        if hasattr(head, "student"):
            student = head.student
            bounds = (student.reliance_min, student.reliance_max)
            constants = (float(student.gate_scale), float(student.gate_offset))
            context, gate = equations.student(head, memory, *bounds, *constants)
            logits = equations.film_logits(head, memory, context, gate)
        else:
            logits = equations.dense(head.head, memory)
        said.append(np.log(equations.softmax(logits)))
    return np.array(said)


def factors_by_hand(actor, sequences, turns, number, limit):
    """Π over all who are there and not in the turn, agent by agent; within the limit."""
    found = np.ones(sequences.played.shape)
    for team, size in enumerate(np.asarray(SIZES)):
        for agent in range(size):
            if turns[team, agent] != number:
                now = log_probabilities(actor, sequences.observations[team, :, agent])
                actions = np.asarray(sequences.actions[team, :, agent])
                before = np.asarray(sequences.log_probabilities[team, :, agent], np.float64)
                found[team] *= np.exp(now[np.arange(len(actions)), actions] - before)
    return np.clip(found, 1 / limit, limit)


@pytest.mark.parametrize("limit", [1e9, 1.05])
@pytest.mark.parametrize("method", one_of_each_kind(HAPPO_METHODS))
def test_the_correction_is_the_product_of_the_others_ratios(method, limit):
    _, _, sequences, moved = begun(method)
    turns = np.array([[1, 0, 0, 0, 0], [0, 1, 1, 0, 0], [1, 0, 1, 0, 1]])
    for number in (0, 1):
        ratio = joint_ratio(compiled_changes(moved, sequences), jnp.asarray(turns != number))
        expected = factors_by_hand(moved, sequences, turns, number, limit)
        assert np.abs(expected - 1).max() > 0.01
        np.testing.assert_allclose(limited(ratio, limit), expected, atol=1e-5)


@pytest.mark.parametrize("method", one_of_each_kind(HAPPO_METHODS))
def test_an_update_is_ppos_epochs_turn_by_turn_on_advantages_corrected_by_hand(method):
    experiment, learner, sequences, _ = begun(method, turns=3, epochs=3, correction_limit=1.02)
    plan, key = SequencePlan.make(experiment, len(SIZES), 25), jax.random.key(5)
    parameters, unravel = ravel_pytree(learner.networks)
    start = Descent(parameters, learner.averaged_teacher, learner.adam)
    course = Course(experiment, unravel, plan, sequences, jnp.asarray(3e-3), key)
    made = jax.jit(lambda: descend_in_turns(course, start))()
    turns = np.asarray(deal(jax.random.fold_in(key, 3), jnp.any(sequences.present, axis=1), 3))

    @jax.jit
    def epoch(training, number, advantages):
        own = replace(sequences, advantages=advantages, learning=jnp.asarray(turns) == number)
        return over_epochs(replace(course, sequences=own), training, number[None]).end

    training, factors = start, []
    for number in range(3):
        actor = unravel(training.parameters).actor
        factors.append(factors_by_hand(actor, sequences, turns, number, 1.02))
        advantages = sequences.advantages * jnp.asarray(factors[-1], jnp.float32)[..., None]
        training = epoch(training, jnp.asarray(number), advantages)
    assert np.abs(factors[0] - 1).max() < 1e-5  # before anything was learned
    assert 0.019 < np.abs(factors[-1] - 1).max() < 0.021
    np.testing.assert_allclose(made.end.parameters, training.parameters, atol=2e-5)
    assert np.abs(np.asarray(made.end.parameters - parameters)).max() > 1e-3


@pytest.mark.parametrize(
    ("method", "backbone"), [pytest.param("happo", "mappo", marks=pytest.mark.slow), ("pc3d-happo", "pc3d")]
)
def test_one_turn_is_the_backbone_to_the_bit(method, backbone):
    assert_same_bits(after_updates(method, turns=1, correction_limit=1.01), after_updates(backbone))


@pytest.mark.parametrize("turns", [2, 3, 8])
def test_everybody_who_is_there_has_one_turn_and_turns_are_equally_full(turns):
    there = jnp.arange(6) < jnp.array([1, 2, 5, 6] * 50)[:, None]
    dealt = np.asarray(deal(jax.random.key(0), there, turns))
    full = np.array(
        [[np.sum(row[real] == turn) for turn in range(turns)] for row, real in zip(dealt, there, strict=True)]
    )
    np.testing.assert_array_equal(full.sum(axis=1), there.sum(axis=1))
    assert (full.max(axis=1) - full.min(axis=1) <= 1).all()
    assert (full.sum(axis=0) > 0.8 * full.sum() / turns).all()  # small teams are not all in the first
    assert len({tuple(row) for row in dealt[3::4]}) > 10


def test_slots_that_nobody_fills_take_no_turn_and_change_nobodys():
    there = jnp.arange(4) < jnp.array([1, 4, 3] * 9)[:, None]
    wide = jnp.pad(there, ((0, 0), (0, 5)))
    one, other = (np.asarray(deal(jax.random.key(3), each, 3)) for each in (there, wide))
    np.testing.assert_array_equal(one[there], other[:, :4][there])
    there = jnp.array([[True, False, True, False, True]])
    for seed in range(20):
        assert len(set(np.asarray(deal(jax.random.key(seed), there, 3))[0, ::2])) == 3


def test_permuting_agents_permutes_their_changes_and_leaves_the_correction():
    _, _, sequences, moved = begun("pc3d-happo")
    order, turns = jnp.array([3, 0, 4, 2, 1]), jnp.array([[0, 1, 0, 1, 0]] * 3)
    permuted = eqx.tree_at(lambda s: s.first_memory, sequences, sequences.first_memory[:, order])
    by_agent = ("observations", "present", "actions", "log_probabilities")
    permuted = replace(permuted, **{name: getattr(sequences, name)[:, :, order] for name in by_agent})
    one, other = compiled_changes(moved, sequences), compiled_changes(moved, permuted)
    np.testing.assert_allclose(one[:, :, order], other, atol=1e-6)
    np.testing.assert_allclose(
        joint_ratio(one, turns == 0), joint_ratio(other, turns[:, order] == 0), atol=1e-6
    )


def test_in_a_turn_only_its_own_agents_learn_and_the_critic_from_all():
    experiment, learner, sequences, moved = begun("pc3d-happo")
    networks = eqx.tree_at(lambda networks: networks.actor, learner.networks, moved)
    whose = jnp.array([[True, True, True, True, True], [False, True, False, True, True], [False] * 5])
    own = replace(sequences, learning=whose)
    every, some = (compiled_objective(networks, each, experiment) for each in (sequences, own))
    np.testing.assert_allclose(some.value, every.value, rtol=1e-6)
    # The first team's one agent, and the second's second: nobody else's advantage matters.
    noise = random_team(3, *sequences.advantages.shape)
    learns = np.asarray(own.decisions)
    assert learns.sum() == 25 * 2
    others = replace(own, advantages=jnp.where(learns, own.advantages, noise))
    again = compiled_objective(networks, others, experiment)
    assert again.total == some.total
    mine = replace(own, advantages=jnp.where(learns, noise, own.advantages))
    assert compiled_objective(networks, mine, experiment).policy != some.policy
    assert some.distillation != every.distillation


@pytest.mark.parametrize(("turns", "steps"), [(1, 4), (2, 4), (3, 6), (8, 8)])
def test_turns_share_the_epochs(turns, steps):
    settings = replace(small_experiment("happo").algorithm, turns=turns, epochs=4)
    assert (settings.turns * settings.epochs_of_turn, settings.passes_of_teams) == (steps, steps)


def test_an_update_takes_one_step_for_each_minibatch_of_each_epoch_of_each_turn():
    experiment = small_experiment("happo")
    settings = replace(experiment.algorithm, turns=3, epochs=4, batch_size=len(SIZES))
    learner, episodes = played(experiment)
    after, lesson = learn(replace(experiment, algorithm=settings), learner, episodes, jax.random.key(0))
    assert int(after.adam.count) == 6
    assert lesson.scalars["correction_low"] <= lesson.scalars["correction_high"]


def test_what_is_written_of_the_correction_is_of_steps_that_are_learned_from_before_the_limit():
    ratio = jnp.array([[1.0, 1.0, 3.0, 0.2], [1.0, 1.0, 1.0, 77.0]])
    played_steps = jnp.array([[True] * 4, [True] * 3 + [False]])
    found = correction_measures(ratio, played_steps, 2.0)
    real = [1, 1, 3, 0.2, 1, 1, 1]
    np.testing.assert_allclose(
        [found["correction_low"], found["correction_high"]], np.percentile(real, [5, 95]), rtol=1e-5
    )
    np.testing.assert_allclose(found["correction_limited"], 2 / 7, rtol=1e-6)


def test_all_numbers_of_an_update_are_finite_also_of_agents_alone():
    experiment = small_experiment("happo")
    learner, episodes = played(experiment)
    alone = jax.tree.map(lambda leaf: jnp.repeat(leaf[:1], 3, axis=0), episodes)
    _, lesson = learn(experiment, learner, alone, jax.random.key(0))
    assert all(bool(finite) for finite in vars(lesson.finite).values())
    assert all(np.isfinite(value) for value in lesson.scalars.values())
    np.testing.assert_allclose(lesson.scalars["correction_high"], 1, atol=1e-6)
