"""Q-learning on entities: A-QMIX and REFIL, which with nothing to imagine is the same."""

from dataclasses import replace
from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.export.plain_actor import plain_actor
from pc3d.learners.experience import said_by, seen_in
from pc3d.learners.q_learning.imagination import imagined_utilities
from pc3d.learners.registry import algorithm_of
from pc3d.networks.entity_groups import Groups
from pc3d.play.choosing import of_action
from pc3d.play.hosted.crew import Crew
from pc3d.play.hosted.worlds import CrewWorlds
from pc3d.play.loop import play
from pc3d.play.worlds import TaskWorlds
from pc3d.runs.players import Players
from pc3d.system.errors import BadInput
from pc3d.tasks.entity_rows import unpacked
from pc3d.tasks.spread.world import Spread
from tests.learners.played import with_garbage
from tests.seams.probe_task.world import NamedProbe
from tests.small import small_experiment

TASK, SIZES = Spread(4).shown_by_entity(), np.array([1, 3, 4, 2])


@partial(jax.jit, static_argnums=0)
def learn(experiment, learner, episodes):
    return algorithm_of(experiment).learn(experiment, TASK, learner, episodes, jax.random.key(0))


@lru_cache
def played():
    """A learner, and episodes with all entities beside them."""
    experiment = small_experiment("refil")
    learner = algorithm_of(experiment).fresh(experiment, Spread(10))
    team, keys = algorithm_of(experiment).team(experiment, learner), jax.random.split(jax.random.key(1), 4)
    recorded = jax.jit(partial(play, TaskWorlds(TASK), with_global_state=True))
    return experiment, learner, recorded(team, keys, SIZES)


@lru_cache
def learned():
    return learn(*played())


def with_imagination(share):
    experiment = small_experiment("refil")
    return replace(experiment, algorithm=replace(experiment.algorithm, imagination=share))


def test_with_nothing_imagined_refil_is_a_qmix_to_the_bit():
    _, learner, episodes = played()
    base = small_experiment("a-qmix")
    fresh = algorithm_of(base).fresh(base, Spread(10))
    (one, lesson), (other, base_lesson) = (
        learn(with_imagination(0.0), learner, episodes),
        learn(base, fresh, episodes),
    )
    assert lesson.scalars.keys() == base_lesson.scalars.keys()
    for mine, theirs in zip(
        jax.tree.leaves((one, lesson)), jax.tree.leaves((other, base_lesson)), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)


def test_what_is_imagined_changes_what_is_learned():
    _, learner, episodes = played()
    after, lesson = learned()
    plain, plain_lesson = learn(with_imagination(0.0), learner, episodes)
    assert float(lesson.scalars["loss_imagined"]) > 0
    assert "loss_imagined" not in plain_lesson.scalars
    one, other = (each.networks.critic.to_rows.layers.layers[0].weight for each in (after, plain))
    assert not np.array_equal(one, other)


def test_what_stands_in_padded_slots_changes_no_bit_of_an_update():
    experiment, learner, episodes = played()
    dirty = with_garbage(episodes)
    rows = unpacked(dirty.global_states, 6)
    features = jnp.where(rows.numbers[..., None] == 0, jnp.nan, rows.features)
    states = jnp.concatenate([features, rows.numbers[..., None]], axis=-1)
    dirty = replace(dirty, global_states=states.reshape(dirty.global_states.shape))
    for one, other in zip(
        jax.tree.leaves(learned()), jax.tree.leaves(learn(experiment, learner, dirty)), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    assert all(vars(learned()[1].finite).values())


@pytest.mark.parametrize("within", [True, False])
def test_utilities_know_of_a_teammate_only_where_it_is_on_their_side(within):
    _, learner, episodes = played()
    rows = unpacked(seen_in(episodes), 6)
    first = [[True, True, within, True]] * 4
    groups = Groups(jnp.array(first), jnp.ones((4, 4), bool))
    ask = jax.jit(partial(imagined_utilities, learner.networks.actor, episodes, roster_changes=False))
    # The third agent, as the first one sees it.
    third = (rows.numbers == 3) & (jnp.arange(4)[:, None] == 0)
    moved = rows._replace(features=rows.features + third[..., None])
    before, after = (ask(each, groups) for each in (rows, moved))
    changed = [
        not np.array_equal(one[1, :, 0], other[1, :, 0]) for one, other in zip(before, after, strict=True)
    ]
    assert changed == [within, not within, False]
    assert bool(jnp.all(before.sees_across[1, :, 0])) == (not within)


def test_with_one_group_utilities_are_those_of_play_to_the_bit():
    _, learner, episodes = played()
    seen = seen_in(episodes)
    everybody = Groups(jnp.ones((4, 4), bool), jnp.ones((4, 4), bool))
    said = said_by(learner.networks.actor, episodes, seen, roster_changes=False).logits[:, :-1]
    made = imagined_utilities(
        learner.networks.actor, episodes, unpacked(seen, 6), everybody, roster_changes=False
    )
    np.testing.assert_array_equal(made.within, of_action(said, episodes.actions))
    assert not np.any(made.sees_across)


def test_groups_follow_from_the_seed_and_the_update():
    experiment, _, episodes = played()
    algorithm = algorithm_of(experiment)
    one, again, other = (
        algorithm.chance(experiment, TASK, episodes, jax.random.key(key)).groups for key in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.agents, again.agents)
    assert not np.array_equal(one.agents, other.agents)
    assert one.others.shape == (4, 4)


def test_a_policy_acts_on_rows_alone_and_is_not_exported():
    _, learner, episodes = played()
    actor = learner.networks.actor
    rows = np.asarray(episodes.observations[2, 0])
    together, alone = Players(actor, 4).act(rows), [Players(actor, 1).act(row[None])[0] for row in rows]
    assert together.tolist() == alone
    with pytest.raises(BadInput, match="cannot be exported yet"):
        plain_actor(actor)


def test_what_has_no_entities_is_refused_in_a_sentence():
    experiment = small_experiment("a-qmix")
    algorithm = algorithm_of(experiment)
    with pytest.raises(BadInput, match="does not show entities one by one"):
        algorithm.check(experiment, NamedProbe(2))
    with pytest.raises(BadInput, match="only our own do"):
        CrewWorlds(Crew.__new__(Crew), TASK).begin(jax.random.split(jax.random.key(0), 4), SIZES)
    hosted = replace(experiment, backend="original")
    with pytest.raises(BadInput, match="leave --backend original away"):
        algorithm.check(hosted, TASK)
    told = replace(experiment, critic=replace(experiment.critic, global_state=True))
    with pytest.raises(BadInput, match="sees all entities anyway"):
        algorithm.check(told, TASK)
    with pytest.raises(BadInput, match="must be a multiple of"):
        replace(experiment.algorithm, attention_heads=3)
