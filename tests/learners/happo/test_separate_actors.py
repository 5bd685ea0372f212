"""An actor for each agent: rows find their own, turns move their own, and nothing else is done with them."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.export.plain_actor import plain_actor
from pc3d.learners.happo import turns
from pc3d.learners.registry import algorithm_of
from pc3d.networks.actor import Actor
from pc3d.networks.separate_actors import SeparateActors
from pc3d.play.arena import CompiledArena
from pc3d.play.loop import play
from pc3d.play.worlds import TaskWorlds
from pc3d.runs.train import check
from pc3d.system.errors import BadInput
from pc3d.tasks.spread.world import Spread
from tests.small import random_team, small_experiment

THREE = {"rosters": Rosters(train=(3,)), "curriculum": Curriculum((Stage(1.0, (3,), (1.0,)),))}
TASK = Spread(3)


def separate(method="happo", **happo):
    experiment = small_experiment(method, **THREE)
    settings = replace(experiment.algorithm, parameters="separate", **happo)
    return replace(experiment, algorithm=settings)


@pytest.fixture(scope="module")
def begun():
    """An experiment, a learner whose actors clearly differ, and what it played."""
    experiment = separate(turns=3, epochs=1, batch_size=4)
    algorithm = algorithm_of(experiment)
    learner = algorithm.fresh(experiment, TASK)
    place = lambda learner: learner.networks.actor.conditioning.head.weight  # noqa: E731
    learner = eqx.tree_at(place, learner, 100 * place(learner))
    keys = jax.random.split(jax.random.key(1), 4)
    episodes = jax.jit(play, static_argnums=0)(
        TaskWorlds(TASK), algorithm.team(experiment, learner), keys, jnp.full(4, 3)
    )
    return experiment, learner, episodes


def learned(experiment, learner, episodes):
    learn = jax.jit(
        lambda: algorithm_of(experiment).learn(experiment, TASK, learner, episodes, jax.random.key(0))
    )
    return learn()


def test_every_row_is_asked_of_its_own_actor(begun):
    _, learner, _ = begun
    actors = learner.networks.actor
    assert isinstance(actors, SeparateActors)
    memory, seen = random_team(0, 7, 10), random_team(1, 4, 7, 16)  # two teams, and one of a third
    features = actors.remember(memory, seen)
    logits = actors.says(features).logits
    for row in range(7):
        own = jax.tree.map(lambda leaf, slot=row % 3: leaf[slot], actors)
        expected = Actor.remember(own, memory[row], seen[:, row])
        np.testing.assert_allclose(features[:, row], expected, atol=1e-6)
        np.testing.assert_allclose(logits[:, row], own.conditioning(expected).logits, atol=1e-5)
    after, said = actors.step(memory[:3], seen[0, :3])
    np.testing.assert_allclose(after, features[0, :3], atol=1e-6)
    np.testing.assert_allclose(said.logits, logits[0, :3], atol=1e-5)


def test_before_the_first_step_the_policies_are_those_that_played(begun):
    experiment, learner, episodes = begun
    for turns_of_update in (1, 3):
        settings = replace(experiment.algorithm, turns=turns_of_update, learning_rate=1e-9)
        _, lesson = learned(replace(experiment, algorithm=settings), learner, episodes)
        assert float(lesson.scalars["divergence"]) < 1e-6
        assert float(lesson.scalars["entropy"]) < 1.59  # ln 5 is 1.61: not all alike


def test_a_turn_moves_its_own_actors_and_the_critic_alone(begun, monkeypatch):
    experiment, learner, episodes = begun
    # Nobody's turn comes for the last slot; the first has momentum from its turn when the second's comes.
    monkeypatch.setattr(turns, "deal", lambda *_: jnp.array([[0, 1, 7]]))
    after, _ = learned(experiment, learner, episodes)
    moved = jax.tree.map(
        lambda old, new: jnp.any(old != new, axis=tuple(range(1, old.ndim))),
        learner.networks.actor,
        after.networks.actor,
    )
    np.testing.assert_array_equal(np.any(jax.tree.leaves(moved), axis=0), [True, True, False])
    assert any(
        bool(jnp.any(old != new))
        for old, new in zip(
            jax.tree.leaves(learner.networks.critic), jax.tree.leaves(after.networks.critic), strict=True
        )
    )
    once = replace(experiment.algorithm, turns=2)
    alone, _ = learned(replace(experiment, algorithm=once), learner, episodes)
    first = lambda networks: [leaf[0] for leaf in jax.tree.leaves(networks.actor)]  # noqa: E731
    for one, other in zip(first(alone.networks), first(after.networks), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-7)


def test_every_turn_has_all_epochs():
    assert separate(turns=3, epochs=4).algorithm.epochs_of_turn == 4


@pytest.mark.parametrize(
    ("experiment", "sentence"),
    [
        (replace(separate(), rosters=Rosters(train=(3,), test=(4,))), "teams of one size"),
        (separate("pc3d-happo"), "without a context"),
    ],
    ids=["two sizes", "a context"],
)
def test_more_team_sizes_and_contexts_are_refused(experiment, sentence):
    with pytest.raises(BadInput, match=sentence):
        check(experiment, CompiledArena(TASK))
    check(separate(), CompiledArena(TASK))


def test_another_team_and_files_of_such_a_policy_are_refused(begun):
    _, learner, _ = begun
    with pytest.raises(BadInput, match="a team of 3, not of 4"):
        learner.networks.actor.first_memory(2, 4)
    with pytest.raises(BadInput, match="cannot be exported"):
        plain_actor(learner.networks.actor)
