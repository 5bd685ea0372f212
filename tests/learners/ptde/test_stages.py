"""PTDE's stages: who learns and who plays when; and what is left knows its own history alone."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.learners.ppo.algorithm import Ppo
from pc3d.learners.ppo.packing import PieceShape
from pc3d.learners.registry import algorithm_of
from pc3d.play.actor_team import ActorTeam
from pc3d.play.loop import play
from pc3d.play.worlds import TaskWorlds
from pc3d.runs.checkpoint import named_arrays
from pc3d.system.errors import BadInput
from pc3d.tasks.spread.world import Spread
from tests.learners.played import with_garbage
from tests.learners.ppo.test_objective import prepared
from tests.learners.ppo.test_packing import assert_same_gradient
from tests.small import small_experiment

# Ten updates: eight of the teacher, two of the student, of which it plays the second.
EXPERIMENT = small_experiment("ptde", episodes=30)
ALGORITHM, TASK, SIZES = algorithm_of(EXPERIMENT), Spread(5), jnp.array([1, 3, 5])
compiled_play = jax.jit(play, static_argnums=0)


@partial(jax.jit, static_argnums=0)
def learn(experiment, learner, episodes):
    return ALGORITHM.learn(experiment, TASK, learner, episodes, jax.random.key(0))


@pytest.fixture(scope="module")
def fresh():
    return ALGORITHM.fresh(EXPERIMENT, Spread(10))


@pytest.fixture(scope="module")
def episodes(fresh):
    return played_by(ALGORITHM.team(EXPERIMENT, fresh))


def played_by(team):
    return compiled_play(TaskWorlds(TASK), team, jax.random.split(jax.random.key(1), 3), SIZES)


def at(update, learner):
    return replace(learner, update=jnp.asarray(update, jnp.int32))


def same(one, other):
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return all(np.array_equal(*pair, equal_nan=True) for pair in pairs)


def test_the_teacher_learns_first_and_is_frozen_while_its_student_learns(fresh, episodes):
    taught, lesson = learn(EXPERIMENT, at(7, fresh), episodes)
    assert same(taught.student, fresh.student)
    assert not same(taught.teacher.networks, fresh.teacher.networks)
    assert not same(taught.teacher.networks.insight, fresh.teacher.networks.insight)
    assert np.isfinite(lesson.scalars["entropy"])
    assert np.isnan(lesson.scalars["loss_student"])
    studied, lesson = learn(EXPERIMENT, at(8, fresh), episodes)
    assert same(studied.teacher, fresh.teacher)
    assert not same(studied.student, fresh.student)
    assert np.isnan(lesson.scalars["entropy"])
    assert np.isfinite(lesson.scalars["loss_student"])
    assert taught.update == 8
    assert studied.update == 9
    assert all(map(bool, vars(lesson.finite).values()))


def test_returns_are_told_by_who_played(fresh, episodes):
    mean = np.mean(episodes.total_reward)
    for update, student_plays in ((8, False), (9, True)):
        scalars = learn(EXPERIMENT, at(update, fresh), episodes)[1].scalars
        told = scalars["return_of_student" if student_plays else "return_of_teacher"]
        assert told == pytest.approx(mean)
        assert np.isnan(scalars["return_of_teacher" if student_plays else "return_of_student"])
        assert bool(ALGORITHM.team(EXPERIMENT, at(update, fresh)).student_plays) == student_plays


def test_each_stage_has_a_learning_rate_that_falls_to_zero_with_it(fresh, episodes):
    rates = [learn(EXPERIMENT, learner, episodes)[1].scalars["learning_rate"] for learner in (
        replace(at(4, fresh), teacher=at(4, fresh.teacher)), at(8, fresh), at(9, fresh),
    )]  # fmt: skip
    settings = EXPERIMENT.algorithm
    expected = (
        settings.learning_rate / 2,
        settings.student_learning_rate,
        settings.student_learning_rate / 2,
    )
    np.testing.assert_allclose(rates, expected, rtol=1e-6)


@pytest.mark.parametrize("update", [0, 8])
def test_what_stands_in_padded_slots_changes_no_bit(fresh, episodes, update):
    runs = (learn(EXPERIMENT, at(update, fresh), each)[0] for each in (episodes, with_garbage(episodes)))
    assert same(*runs)


def test_gradients_of_pieces_add_up_to_that_of_the_padded_minibatch(fresh, episodes):
    batch = prepared(EXPERIMENT, fresh.teacher, episodes)
    shape = PieceShape(3, (6,), single=False)
    assert_same_gradient(EXPERIMENT, batch, fresh.teacher.networks, shape)


def test_before_the_first_gradient_step_the_policy_is_the_one_that_played(fresh, episodes):
    """Also where nothing was kept of its decisions, as in worlds on the host."""
    forgotten = replace(episodes, kept=None)
    kept, asked = (
        prepared(EXPERIMENT, fresh.teacher, each).log_probabilities for each in (episodes, forgotten)
    )
    decided = np.asarray(prepared(EXPERIMENT, fresh.teacher, episodes).decisions)
    np.testing.assert_allclose(np.asarray(kept)[decided], np.asarray(asked)[decided], atol=1e-5)


def test_the_policy_that_is_left_plays_as_the_student_did_and_holds_nothing_central(fresh):
    learner = at(9, jax.tree.map(lambda leaf: 1.5 * leaf, fresh))
    policy = ALGORITHM.policy(learner)
    assert all(name.startswith("actor.") for name in named_arrays(policy))
    student = played_by(ALGORITHM.team(EXPERIMENT, learner))
    left = played_by(ActorTeam(policy.actor))
    there = np.asarray(student.present[:, :-1])
    np.testing.assert_array_equal(np.asarray(student.actions)[there], np.asarray(left.actions)[there])
    teacher = played_by(ALGORITHM.team(EXPERIMENT, at(0, learner)))
    assert not np.array_equal(np.asarray(teacher.actions)[there], np.asarray(left.actions)[there])


def test_the_teacher_is_told_of_its_teammates_and_the_student_is_not(fresh):
    learner = jax.tree.map(lambda leaf: 1.5 * leaf, fresh)
    for update, knows in ((0, True), (9, False)):
        team = ALGORITHM.team(EXPERIMENT, at(update, learner))
        likely = [own_log_probability(team, seed) for seed in (1, 2)]
        assert (likely[0] != likely[1]) == knows


def own_log_probability(team, others_seed):
    """How likely the first agent acts as it does, while its teammates see something."""
    from pc3d.play.team import View

    seen = jax.random.normal(jax.random.key(others_seed), (1, 3, 16)).at[:, 0].set(0.3)
    _, decision = jax.jit(type(team).step)(
        team, team.first(1, 3), View(seen, jnp.ones((1, 3), bool)), jnp.full((1, 3), 0.5)
    )
    return float(decision.kept["log_probability"][0, 0])


def test_the_teacher_is_a_ppo_learner_with_an_insight_and_mappo_has_none(fresh):
    mappo = small_experiment("mappo")
    assert Ppo().fresh(mappo, Spread(10)).networks.insight is None
    assert fresh.teacher.networks.insight is not None


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_both_stages_need_an_update(share):
    settings = replace(EXPERIMENT.algorithm, teacher_share=share)
    with pytest.raises(BadInput, match="both need some"):
        ALGORITHM.check(replace(EXPERIMENT, algorithm=settings), TASK)
