"""Agents come and go within an episode: newcomers remember nothing, and absent slots do not count."""

from dataclasses import replace
from functools import lru_cache, partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.experiment.execution import ALONE
from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.learners.ppo.preparation import prepare
from pc3d.learners.ppo.sequences import SequencePlan
from pc3d.learners.registry import algorithm_of
from pc3d.play.actor_team import ActorTeam
from pc3d.play.choosing import of_action
from pc3d.play.loop import play, play_on_host
from pc3d.play.presence import joined
from pc3d.play.team import Decision
from pc3d.play.worlds import TaskWorlds
from tests.learners.ppo.padded import features_of, objective
from tests.play.coming_and_going import RETAKEN, ROTA, TAKEN_ANEW, ComingAndGoing, SettledTeam, Staying
from tests.probes import probe_experiment

TASK = ComingAndGoing(4)
SIZES = np.array([4, 2, 3, 1])
METHODS = ["ippo", "mappo", "pic", "pc3d"]
DECISIVE = 300  # a fresh head is nearly uniform: what is remembered would hardly matter

# Whole programs, because they are kept between runs of the tests; those of single operations are not.
play_compiled = jax.jit(play, static_argnums=0)


@lru_cache
def experiment_of(method, pieces=1):
    experiment = probe_experiment(method, updates=1)
    ppo = replace(experiment.algorithm, epochs=2, batch_size=3)
    recipe = replace(experiment.recipe, backpropagation_steps=-(-TASK.horizon // pieces))
    curriculum = Curriculum((Stage(1.0, (4,), (1.0,)),))
    rosters = Rosters(train=(4,), test=(6,))
    return replace(experiment, algorithm=ppo, recipe=recipe, rosters=rosters, curriculum=curriculum)


@lru_cache
def learner_of(method):
    learner = algorithm_of(experiment_of(method)).fresh(experiment_of(method), TASK)
    return eqx.tree_at(
        lambda learner: learner.networks.actor.conditioning.head.weight,
        learner,
        replace_fn=lambda weight: weight * DECISIVE,
    )


@lru_cache
def keys():
    return jax.random.split(jax.random.key(1), len(SIZES))


def team_of(method):
    return ActorTeam(learner_of(method).networks.actor, keeps=True)


@lru_cache
def played(method, task=TASK):
    return play_compiled(TaskWorlds(task), team_of(method), keys(), SIZES)


@lru_cache
def played_on_host(method, task=TASK):
    return play_on_host(TaskWorlds(task), team_of(method), keys(), SIZES)


@partial(jax.jit, static_argnums=(0, 1, 2))
def prepared(method, pieces, task, episodes):
    experiment = experiment_of(method, pieces)
    plan = SequencePlan.make(experiment, len(SIZES), TASK.horizon)
    return prepare(experiment, task, learner_of(method), episodes, plan).sequences


@partial(jax.jit, static_argnums=0)
def likely_again(method, batch):
    """How likely the actor finds each action now."""
    actor = learner_of(method).networks.actor
    features = features_of(actor, batch)
    return of_action(jax.nn.log_softmax(actor.conditioning(features).logits), batch.actions)


@partial(jax.jit, static_argnums=0)
def parts_of(method, batch):
    return objective(learner_of(method).networks, batch, experiment_of(method))


@partial(jax.jit, static_argnums=0)
def gradient_of(method, batch):
    def loss(networks):
        return objective(networks, batch, experiment_of(method)).total

    return jax.value_and_grad(loss)(learner_of(method).networks)


@partial(jax.jit, static_argnums=(0, 1))
def updated(method, task, episodes):
    experiment = experiment_of(method)
    return algorithm_of(experiment).learn(experiment, task, learner_of(method), episodes, jax.random.key(0))


def decisions_of(episodes):
    return np.asarray(episodes.present[:, :-1] & episodes.played[:, :, None])


def assert_close(one, other):
    for left, right in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(left, right, atol=2e-5)


def assert_same_bits(one, other):
    for left, right in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("record", [played, played_on_host])
def test_the_record_says_who_was_there_at_every_moment(record):
    expected = ROTA & (np.arange(4) < SIZES[:, None, None])
    np.testing.assert_array_equal(record("mappo").present, expected)


def test_the_episodes_on_the_host_are_those_of_one_program():
    compiled, hosted = played("pc3d"), played_on_host("pc3d")
    decisions = decisions_of(compiled)
    np.testing.assert_array_equal(hosted.actions[decisions], np.asarray(compiled.actions)[decisions])
    np.testing.assert_allclose(hosted.rewards, compiled.rewards, atol=1e-6)


def test_who_has_joined_was_not_there_a_moment_before():
    found = np.asarray(joined(played("mappo").present))
    assert [(moment, slot) for moment, slot in np.argwhere(found[0])] == [(2, 3), (4, 1), (6, 3)]
    assert [(moment, slot) for moment, slot in np.argwhere(found[1])] == [(4, 1)]
    assert not found[3].any()


class Attentive:
    """A team that stays where it is and keeps who has joined."""

    execution = ALONE

    def first(self, episodes, slots):
        return None

    def step(self, memory, view, chances):
        return memory, Decision(np.ones(chances.shape, np.int32), kept=view.joined)


def test_a_team_is_told_who_has_joined():
    episodes = play_on_host(TaskWorlds(TASK), Attentive(), keys(), SIZES)
    np.testing.assert_array_equal(episodes.kept, joined(jnp.asarray(episodes.present))[:, :-1])


@pytest.mark.parametrize("method", ["mappo", "pc3d"])
def test_a_newcomer_decides_as_if_the_slot_had_no_past(method):
    one, other = (played(method, ComingAndGoing(4, past=past)) for past in (0.0, 5.0))
    before, after = (np.s_[:3, :2, RETAKEN], np.s_[:3, TAKEN_ANEW:, RETAKEN])
    likely, otherwise = (np.asarray(each.kept["log_probability"]) for each in (one, other))
    assert np.all(likely[before] != otherwise[before])
    np.testing.assert_array_equal(one.actions[after], other.actions[after])
    np.testing.assert_array_equal(likely[after], otherwise[after])


@pytest.mark.parametrize(("method", "pieces"), [("ippo", 3), ("pc3d", 1), ("pc3d", 2), ("pc3d", 3)])
@pytest.mark.parametrize("kept", [True, False])
def test_before_the_first_gradient_step_the_policy_is_the_one_that_played(method, pieces, kept):
    """With two pieces, of 4 steps, a newcomer's first is the first of a piece; else it is inside of one."""
    episodes = played(method)
    recorded = episodes if kept else eqx.tree_at(lambda episodes: episodes.kept, episodes, None)
    batch = prepared(method, pieces, TASK, recorded)
    decisions = np.asarray(batch.decisions)
    again = np.asarray(likely_again(method, batch))[decisions]
    # Cutting leaves the order as it was: episode by episode, and moment by moment.
    np.testing.assert_allclose(
        again, np.asarray(episodes.kept["log_probability"])[decisions_of(episodes)], atol=1e-4
    )
    np.testing.assert_allclose(np.asarray(batch.log_probabilities)[decisions], again, atol=1e-4)
    parts = parts_of(method, batch)
    assert float(parts.clipped) == 0
    assert abs(float(parts.divergence)) < 1e-6


def spoilt(batch):
    """The batch with NaN wherever nobody is."""
    return eqx.tree_at(
        lambda batch: (batch.observations, batch.log_probabilities),
        batch,
        (
            jnp.where(batch.present[..., None], batch.observations, jnp.nan),
            jnp.where(batch.present, batch.log_probabilities, jnp.nan),
        ),
    )


@pytest.mark.parametrize("method", METHODS)
def test_what_stands_in_absent_slots_changes_no_bit_of_loss_or_gradient(method):
    batch = prepared(method, 1, TASK, played(method))
    clean = gradient_of(method, batch)
    assert_same_bits(clean, gradient_of(method, spoilt(batch)))
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(clean))


@pytest.mark.parametrize("method", METHODS)
def test_an_update_is_finite_and_the_same_whatever_absent_slots_see(method):
    blind = played(method, ComingAndGoing(4, spoilt=True))
    assert np.isnan(blind.observations).any()
    (learner, lesson), (blind_learner, blind_lesson) = (
        updated(method, TASK, episodes) for episodes in (played(method), blind)
    )
    assert all(jax.tree.leaves(lesson.finite))
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves((learner, lesson.scalars)))
    assert not eqx.tree_equal(learner.networks, learner_of(method).networks)
    assert_same_bits((learner, lesson), (blind_learner, blind_lesson))


def test_a_wider_world_changes_the_objective_by_rounding_only():
    batches = [prepared("pc3d", 1, task, played("pc3d", task)) for task in (TASK, ComingAndGoing(6))]
    assert_close(*(parts_of("pc3d", batch) for batch in batches))


def test_a_constant_roster_is_recorded_as_constant_and_nobody_starts_afresh():
    settled = SettledTeam(4)
    episodes = played("pc3d", settled)
    expected = np.broadcast_to(np.arange(4) < SIZES[:, None, None], episodes.present.shape)
    np.testing.assert_array_equal(episodes.present, expected)
    assert prepared("pc3d", 2, settled, episodes).fresh is None


def test_a_roster_that_could_change_and_does_not_is_played_and_learned_from_as_one_that_cannot():
    tasks = (Staying(4), SettledTeam(4))
    one, other = (played("pc3d", task) for task in tasks)
    np.testing.assert_array_equal(one.actions, other.actions)
    assert_close(*(parts_of("pc3d", prepared("pc3d", 2, task, one)) for task in tasks))
