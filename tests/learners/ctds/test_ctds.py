"""CTDS: a teacher that sees its team, and a student of its values that sees nothing but its own history."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.learners.ctds.algorithm import examples_of, student_plays
from pc3d.learners.registry import algorithm_of
from pc3d.networks.build import build
from pc3d.networks.mixers import JointMixer, MeanMixer, MeanUtility
from pc3d.play.actor_team import ActorTeam
from pc3d.play.loop import play
from pc3d.play.worlds import TaskWorlds
from pc3d.runs.checkpoint import named_arrays
from pc3d.system.errors import BadInput
from pc3d.tasks.spread.world import Spread
from tests.learners.played import with_garbage
from tests.small import small_experiment

EXPERIMENT = small_experiment("ctds")
ALGORITHM, TASK, SIZES = algorithm_of(EXPERIMENT), Spread(5), jnp.array([1, 3, 5, 2])
compiled_play = jax.jit(play, static_argnums=0)
ask = jax.jit(partial(examples_of, roster_changes=False))


@partial(jax.jit, static_argnums=0)
def learn(experiment, learner, episodes):
    noted = ALGORITHM.after_play(learner, jax.tree.map(lambda values: values[:3], episodes))
    return ALGORITHM.learn(experiment, TASK, noted, episodes, jax.random.key(0))


@pytest.fixture(scope="module")
def fresh():
    return ALGORITHM.fresh(EXPERIMENT, Spread(10))


def played_by(team):
    """What they do without exploring."""
    keys = jax.random.split(jax.random.key(1), len(SIZES))
    return compiled_play(TaskWorlds(TASK), replace(team, epsilon=jnp.zeros(())), keys, SIZES)


@pytest.fixture(scope="module")
def episodes(fresh):
    return played_by(ALGORITHM.team(EXPERIMENT, fresh))


def same(one, other):
    return all(map(np.array_equal, jax.tree.leaves(one), jax.tree.leaves(other)))


def test_what_is_taught_are_the_values_by_which_the_teacher_plays(fresh, episodes):
    examples = ask(fresh.teacher.networks, episodes)
    best = np.argmax(examples.said, axis=-1)
    decided = np.asarray(examples.decisions)
    np.testing.assert_array_equal(best[decided], np.asarray(episodes.actions)[decided])
    assert len(set(best[decided].tolist())) > 1


def test_the_teacher_sees_its_teammates_and_the_student_only_its_own_history(fresh, episodes):
    changed = replace(episodes, observations=episodes.observations.at[:, :, 1:].add(1.0))
    before, after = (ask(fresh.teacher.networks, each).said for each in (episodes, changed))
    np.testing.assert_array_equal(before[0, :, 0], after[0, :, 0])  # it is alone
    assert not np.any(np.all(before[1, :, 0] == after[1, :, 0], axis=-1))
    actor = ALGORITHM.policy(fresh).actor
    own, still = (
        actor.says(actor.over_episodes(each.observations)).logits[:, :, 0] for each in (episodes, changed)
    )
    np.testing.assert_array_equal(own, still)


def test_an_order_of_the_team_and_padding_change_nothing_for_its_members(fresh, episodes):
    order = jnp.array([4, 2, 0, 1, 3])
    moved = replace(
        episodes,
        present=episodes.present[:, :, order],
        observations=episodes.observations[:, :, order],
        actions=episodes.actions[:, :, order],
    )
    said, of_moved = (ask(fresh.teacher.networks, each) for each in (episodes, moved))
    decided = np.asarray(of_moved.decisions)
    np.testing.assert_allclose(
        np.asarray(of_moved.said)[decided], np.asarray(said.said[:, :, order])[decided], atol=1e-5
    )
    runs = [learn(EXPERIMENT, fresh, each) for each in (episodes, with_garbage(episodes))]
    assert same(runs[0][0], runs[1][0])
    student, first = runs[0][0].student, fresh.student
    assert not same(student.actor, first.actor)


def test_the_student_comes_nearer_to_its_teacher_and_returns_are_told_by_who_played(fresh, episodes):
    learner, losses = fresh, []
    for _ in range(12):
        learner, lesson = learn(EXPERIMENT, learner, episodes)
        losses.append(float(lesson.scalars["loss_student"]))
        student = bool(student_plays(EXPERIMENT, learner.update - 1))
        told = lesson.scalars["return_of_student" if student else "return_of_teacher"]
        assert float(told) == pytest.approx(float(jnp.mean(episodes.total_reward[:3])), rel=1e-5)
        assert np.isnan(lesson.scalars["return_of_teacher" if student else "return_of_student"])
    assert all(map(bool, vars(lesson.finite).values()))
    assert losses[-1] < losses[0]
    assert learner.update == learner.teacher.update == 12


def test_the_student_plays_as_often_as_its_share_says():
    often = replace(EXPERIMENT, algorithm=replace(EXPERIMENT.algorithm, student_plays=0.25))
    plays = [bool(student_plays(often, jnp.asarray(update))) for update in range(12)]
    assert plays == [False, False, False, True] * 3
    never = replace(EXPERIMENT, algorithm=replace(EXPERIMENT.algorithm, student_plays=0.0))
    assert not any(bool(student_plays(never, jnp.asarray(update))) for update in range(12))


def test_the_policy_that_is_left_is_the_student_and_plays_as_it_did(fresh):
    policy = ALGORITHM.policy(fresh)
    assert same(policy.actor, fresh.student.actor)
    assert not any("critic" in name or "insight" in name for name in named_arrays(policy))
    student = played_by(replace(ALGORITHM.team(EXPERIMENT, fresh), student_plays=jnp.asarray(True)))
    keys = jax.random.split(jax.random.key(1), len(SIZES))
    left = compiled_play(TaskWorlds(TASK), ActorTeam(policy.actor), keys, SIZES)
    there = np.asarray(student.present[:, :-1])
    np.testing.assert_array_equal(np.asarray(student.actions)[there], np.asarray(left.actions)[there])


def test_a_setting_says_what_mixes_the_teachers_utilities():
    for mixer, kind in (
        ("mean-utility", MeanUtility),
        ("joint-mixer", JointMixer),
        ("mean-mixer", MeanMixer),
    ):
        chosen = replace(EXPERIMENT, algorithm=replace(EXPERIMENT.algorithm, mixer=mixer))
        made = jax.eval_shape(lambda chosen=chosen: build(jax.random.key(0), chosen, TASK).critic)
        assert isinstance(made, kind)


def test_memories_of_play_are_refused_because_teacher_and_student_remember_unlike_things():
    remembers = replace(EXPERIMENT, algorithm=replace(EXPERIMENT.algorithm, stored_memory=True))
    with pytest.raises(BadInput, match="burn in instead"):
        ALGORITHM.check(remembers, TASK)
