"""The objective of Q-learning: its equations, what may reach which parameters, and neutral padding."""

from dataclasses import replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.learners import pieces
from pc3d.learners.experience import Counts, said_by, seen_in
from pc3d.learners.pieces import pieces_of
from pc3d.learners.q_learning.descent import minibatch_gradient
from pc3d.learners.q_learning.losses import Given, objective
from pc3d.learners.registry import algorithm_of
from pc3d.learners.replay import Replay
from pc3d.play.worlds import TaskWorlds
from tests import factored_equations as factored
from tests import paper_equations as equations
from tests.learners.played import (
    CENTER,
    DEVIATION,
    SCALE,
    SIZES,
    TASK,
    compiled_play,
    largest,
    learn,
    played,
    with_garbage,
)
from tests.small import Q_METHODS, one_of_each_kind


@partial(jax.jit, static_argnums=0)
def parts_of(experiment, learner, episodes):
    given = Given(learner.slow, SCALE, roster_changes=False)
    return objective(experiment, learner.networks, given, episodes, Counts.of(episodes))


@partial(jax.jit, static_argnums=(0, 1))
def gradient_of(term, experiment, learner, episodes):
    given = Given(learner.slow, SCALE, roster_changes=False)

    def loss(networks):
        return getattr(objective(experiment, networks, given, episodes, Counts.of(episodes)), term)

    return jax.grad(loss)(learner.networks)


@pytest.mark.parametrize("method", one_of_each_kind(Q_METHODS))
def test_the_losses_are_those_of_the_equations(method):
    experiment, learner, episodes = played(method)
    discount, mix = experiment.algorithm.discount, factored.MIXERS[method]
    errors, apart = [], []
    for episode, size in enumerate(SIZES):
        seen = np.asarray(episodes.observations[episode, :, :size], np.float64)
        online, contexts = zip(
            *(equations.said_by_actor(learner.networks.actor, seen[:, i]) for i in range(size)), strict=True
        )
        slow, _ = zip(
            *(equations.said_by_actor(learner.slow.actor, seen[:, i]) for i in range(size)), strict=True
        )
        for time in range(TASK.horizon):
            taken = [online[i][time][int(episodes.actions[episode, time, i])] for i in range(size)]
            value = mix(learner.networks.critic, seen[time], taken, "absolute")
            target = factored.double_q_target(
                float(episodes.rewards[episode, time]) / size,
                discount,
                terminated=bool(episodes.terminated[episode, time]),
                online=[each[time + 1] for each in online],
                slow=[each[time + 1] for each in slow],
                mix=lambda utilities, after=seen[time + 1]: (
                    CENTER + DEVIATION * mix(learner.slow.critic, after, utilities, "absolute")
                ),
            )
            errors.append((value - (target - CENTER) / DEVIATION) ** 2)
            if method == "pc3d-qmix":
                teacher = learner.slow.critic.teacher
                encodings = equations.encodings(teacher, seen[time])
                tokens = equations.tokens(teacher.queries, encodings)
                for agent in range(size):
                    told = equations.teacher_context(encodings[agent], tokens)
                    recipe = experiment.recipe
                    error = contexts[agent][time] - told
                    apart.append(equations.huber(error, recipe.huber_delta, recipe.huber_reduction))
    made = parts_of(experiment, learner, episodes)
    np.testing.assert_allclose(made.value, np.mean(errors), rtol=1e-5)
    np.testing.assert_allclose(made.distillation, np.mean(apart) if apart else 0, rtol=1e-5)
    weight = experiment.distillation.weight if apart else 0
    np.testing.assert_allclose(made.total, made.value + weight * made.distillation, rtol=1e-6)


def test_the_teacher_learns_from_the_value_alone_and_the_gate_from_utilities():
    experiment, learner, episodes = played("pc3d-qmix")
    value = gradient_of("value", experiment, learner, episodes)
    distillation = gradient_of("distillation", experiment, learner, episodes)
    assert largest(value.critic.teacher.queries) > 0
    assert largest(value.actor.conditioning.student.to_reliance) > 0
    assert largest(distillation.critic) == 0
    assert largest(distillation.actor.conditioning.student.to_context) > 0
    assert largest(distillation.actor.conditioning.student.to_reliance) == 0


@pytest.mark.parametrize("method", ["qmix", "pc3d-qmix"])
def test_every_hypernetwork_learns_from_the_value(method):
    experiment, learner, episodes = played(method)
    critic = gradient_of("value", experiment, learner, episodes).critic
    for part in (critic.to_rows, critic.to_offset, critic.to_weights, critic.to_value):
        assert largest(part) > 0


def test_contexts_do_not_change_when_actions_do():
    experiment, learner, episodes = played("pc3d-qmix")
    others = replace(episodes, actions=(episodes.actions + 1) % TASK.action_count)
    one, other = (parts_of(experiment, learner, each) for each in (episodes, others))
    assert one.distillation == other.distillation
    assert one.value != other.value
    health = [learn(experiment, learner, each)[1].scalars for each in (episodes, others)]
    for name in ("alignment", "personal_share", "attention_over_agents", "effective_tokens"):
        assert health[0][name] == health[1][name]


@pytest.mark.parametrize("method", one_of_each_kind(Q_METHODS))
def test_what_stands_in_padded_slots_changes_no_bit_of_an_update(method):
    experiment, learner, episodes = played(method)
    both = (episodes, with_garbage(episodes))
    (clean, lesson), (other, other_lesson) = (learn(experiment, learner, each) for each in both)
    for one, two in zip(
        jax.tree.leaves((clean, lesson)), jax.tree.leaves((other, other_lesson)), strict=True
    ):
        np.testing.assert_array_equal(one, two)
    assert all(vars(lesson.finite).values())


def test_steps_that_do_not_count_change_no_bit_of_the_loss():
    experiment, learner, episodes = played("qmix")
    cut = replace(episodes, played=episodes.played & (jnp.arange(TASK.horizon) < 9))
    dirty = replace(cut, rewards=jnp.where(cut.played, cut.rewards, jnp.nan))
    for one, other in zip(
        *(jax.tree.leaves(parts_of(experiment, learner, each)) for each in (cut, dirty)), strict=True
    ):
        assert one == other


def test_gradients_of_pieces_add_up_to_that_of_the_minibatch(monkeypatch):
    experiment, learner, episodes = played("pc3d-qmix")
    given = Given(learner.slow, SCALE, roster_changes=False)
    found = []
    for row_steps in (10**9, 26 * 5):
        monkeypatch.setattr(pieces, "ROW_STEPS", row_steps)
        found.append(jax.jit(lambda: minibatch_gradient(experiment, learner.networks, given, episodes))())
    for one, other in zip(*map(jax.tree.leaves, found), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize(
    ("shape", "pieces"), [((32, 26, 8), 4), ((32, 26, 2), 1), ((7, 1000, 9), 7), ((1, 10, 10), 1)]
)
def test_a_minibatch_is_cut_into_equal_pieces_of_a_certain_size(shape, pieces):
    assert pieces_of(*shape) == pieces


@pytest.mark.parametrize("stored", [True, False])
def test_what_is_said_in_a_stretch_is_what_was_said_in_the_whole_episode_if_memory_is_stored(stored):
    experiment, learner, _ = played("pc3d-qmix")
    settings = replace(experiment.algorithm, stored_memory=stored, sequence_steps=9, burn_in=0, batch_size=9)
    experiment = replace(experiment, algorithm=settings)
    keys = jax.random.split(jax.random.key(1), len(SIZES))
    episodes = compiled_play(
        TaskWorlds(TASK), algorithm_of(experiment).team(experiment, learner), keys, SIZES
    )
    replay = Replay(settings.replay)
    replay.add(1, episodes)
    drawn = replay.drawn(0, 0)
    whole = replace(episodes, kept=None)
    said, expected = (
        said_by(learner.networks.actor, each, seen_in(each), roster_changes=False).logits
        for each in (drawn, whole)
    )
    apart = []
    for place, actions in enumerate(drawn.actions):
        real = drawn.played[place]
        where = [
            (episode, start)
            for episode in range(len(SIZES))
            for start in range(0, 25, 9)
            if np.array_equal(
                np.asarray(episodes.actions)[episode, start : start + real.sum()], actions[real]
            )
        ]
        (episode, start), size = where[0], int(drawn.team_size[place])
        found, wanted = said[place, : real.sum(), :size], expected[episode, start : start + real.sum(), :size]
        apart.append(np.abs(np.asarray(found - wanted)).max())
    assert bool(max(apart) < 1e-5) is stored


def test_the_slow_copy_follows_by_its_rate_and_is_the_averaged_teacher():
    experiment, learner, episodes = played("pc3d-qmix")
    one_step = replace(experiment.algorithm, gradient_steps=1, batch_size=4, target_rate=0.25)
    experiment = replace(experiment, algorithm=one_step)
    after, _ = learn(experiment, learner, episodes)
    expected = jax.tree.map(lambda old, new: old + 0.25 * (new - old), learner.slow, after.networks)
    for made, wanted in zip(jax.tree.leaves(after.slow), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(made, wanted, atol=1e-6)
    policy = algorithm_of(experiment).policy(after)
    assert eqx.tree_equal(policy.teacher, after.slow.critic.teacher)
    assert eqx.tree_equal(policy.actor, after.networks.actor)
    assert not eqx.tree_equal(after.slow.critic.teacher, after.networks.critic.teacher)


def test_each_gradient_step_has_sequences_of_its_own():
    """The order of what is drawn is that of the steps: another order is another update."""
    experiment, learner, episodes = played("vdn")
    turned = jax.tree.map(lambda values: values[jnp.array([2, 3, 0, 1])], episodes)
    swapped = jax.tree.map(lambda values: values[jnp.array([1, 0, 3, 2])], episodes)
    first, other, same = (
        learn(experiment, learner, each)[0].networks.actor for each in (episodes, turned, swapped)
    )
    weights = [np.asarray(actor.memory.from_input.weight) for actor in (first, other, same)]
    np.testing.assert_allclose(weights[0], weights[2], atol=1e-6)
    assert np.abs(weights[0] - weights[1]).max() > 1e-6
