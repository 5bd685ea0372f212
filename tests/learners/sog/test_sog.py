"""SOG: without elections it is REFIL; what was heard in play is a constant of learning."""

from dataclasses import replace
from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.experiment.execution import LinkLoss
from pc3d.learners.experience import remembered_by, seen_in
from pc3d.learners.q_learning.conducting import held_to
from pc3d.learners.registry import algorithm_of
from pc3d.networks.conducted_actor import softly_bounded
from pc3d.play.conducted_team import Election
from pc3d.play.hashed_draws import uniform_draws
from pc3d.play.loop import play
from pc3d.play.talking_team import team_of
from pc3d.play.team import View
from pc3d.play.worlds import TaskWorlds
from pc3d.runs.players import Agent, Players
from pc3d.system.errors import BadInput
from pc3d.tasks.entity_rows import unpacked
from pc3d.tasks.spread.world import Spread
from tests import group_equations as equations
from tests.learners.played import with_garbage
from tests.small import random_team, small_experiment

TASK, SIZES = Spread(4).shown_by_entity(), np.array([1, 3, 4, 2])
ONE_STEP = {"trace": 0.0, "gradient_steps": 1, "batch_size": 4}


@partial(jax.jit, static_argnums=0)
def learn(experiment, learner, episodes):
    return algorithm_of(experiment).learn(experiment, TASK, learner, episodes, jax.random.key(0))


@partial(jax.jit, static_argnums=1)
def compiled_play(team, slots=4):
    worlds = TaskWorlds(TASK.with_slots(slots))
    return play(worlds, team, jax.random.split(jax.random.key(1), 4), SIZES, with_global_state=True)


def small(method, **changes):
    usual = small_experiment(method)
    return replace(usual, algorithm=replace(usual.algorithm, **ONE_STEP, **changes))


@lru_cache
def played(method="sog", **changes):
    experiment = small(method, **changes)
    learner = algorithm_of(experiment).fresh(experiment, Spread(10))
    return experiment, learner, compiled_play(algorithm_of(experiment).team(experiment, learner))


@lru_cache
def learned(method="sog", **changes):
    return learn(*played(method, **changes))


def assert_same_bits(one, other):
    for mine, theirs in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_without_elections_it_is_refil_to_the_bit():
    assert_same_bits(learned(election_every=0), learned("refil"))
    assert_same_bits(played(election_every=0)[2], played("refil")[2])


@pytest.mark.slow
def test_what_was_heard_is_learned_from_as_it_was_and_messages_learn_from_what_becomes_known():
    _, learner, episodes = played()
    after, lesson = learned()
    expected = np.asarray(episodes.kept["grouped"])[np.asarray(episodes.present[:, :-1])].mean()
    assert float(lesson.scalars["grouped"]) == pytest.approx(expected, rel=1e-5)
    assert 0 < expected < 1
    before, moved = (one.networks.actor.to_message.weight for one in (learner, after))
    assert not np.array_equal(before, moved)
    # The team's value and what is imagined teach nobody what to say: messages are constants.
    plain, _ = learn(small("sog", foresight_weight=0.0, contrast_weight=0.0), learner, episodes)
    np.testing.assert_array_equal(before, plain.networks.actor.to_message.weight)
    assert not np.array_equal(*(one.networks.actor.listening.weight for one in (learner, plain)))


def test_learning_hears_what_was_kept_and_what_is_held_to_teaches_no_memory():
    experiment, learner, episodes = played()
    kept = {**episodes.kept, "told": episodes.kept["told"] + 1.0}
    other = learn(experiment, learner, replace(episodes, kept=kept))[1].scalars
    assert float(other["loss_value"]) != float(learned()[1].scalars["loss_value"])
    assert float(other["loss_foresight"]) == float(learned()[1].scalars["loss_foresight"])

    def held(networks):
        return sum(jnp.sum(part) for part in jax.tree.leaves(messages_of(networks, episodes)))

    slopes = jax.grad(held)(learner.networks).actor
    assert not any(np.any(leaf) for leaf in jax.tree.leaves((slopes.memory, slopes.conditioning)))
    assert all(np.any(slope.weight) for slope in (slopes.to_message, slopes.to_foresight))
    assert np.any(slopes.encoder.attention.to_value.weight)


@jax.jit
def messages_of(networks, episodes):
    remembered = remembered_by(networks.actor, episodes, seen_in(episodes), roster_changes=False)
    noise = jnp.asarray(random_team(3, 4, 26, 4, 3))
    return held_to(networks.actor, episodes, seen_in(episodes), remembered, noise)


def test_what_messages_are_held_to_is_its_equations_and_zero_where_nobody_lived_to_know():
    _, learner, episodes = played()
    networks = jax.tree.map(lambda leaf: leaf * 1.5 - 0.03, learner.networks)
    actor, noise = networks.actor, np.asarray(random_team(3, 4, 26, 4, 3), np.float64)
    found = messages_of(networks, episodes)
    remembered = remembered_by(actor, episodes, seen_in(episodes), roster_changes=False)
    rows = unpacked(episodes.observations, actor.encoder.attention.features)
    features, numbers = np.asarray(rows.features, np.float64), np.asarray(rows.numbers)
    for episode, size in enumerate(SIZES):
        for time in (0, 5, 21):
            known, said = {}, {}
            for agent in range(size):
                at, later = ((episode, moment, agent) for moment in (time, time + 3))
                sight = features[at][numbers[at] != 0]
                said[agent] = equations.message(actor, sight[0], sight)
                sight, memory = (
                    features[later][numbers[later] != 0],
                    np.asarray(remembered[later], np.float64),
                )
                known[agent] = equations.foretold(actor, sight[0], sight, memory)
            for agent in range(size):
                mean, deviation = said[agent]
                drawn = mean + deviation * noise[episode, time, agent]
                expected = (
                    equations.divergence(said[agent], known[agent]),
                    equations.confusion(drawn, agent, known),
                )
                made = [float(part[episode, time, agent]) for part in (found.foresight, found.contrast)]
                np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-5)
    for part in (found.foresight, found.contrast):
        assert not np.any(part[:, 22:])  # the next election is after the end
        assert not np.any(np.asarray(part)[~np.asarray(episodes.present[:, :-1])])


def test_who_leaves_before_its_message_is_used_up_and_whose_seat_is_taken_are_held_to_nothing():
    _, learner, episodes = played()
    present = np.array(episodes.present)
    present[2, 10, 1] = False  # between two who sit there
    found = messages_of(learner.networks, replace(episodes, present=present)).foresight[2, :, 1]
    assert np.flatnonzero(np.asarray(found) == 0).tolist() == [7, 8, 9, 10, 22, 23, 24]


def test_what_stands_in_padded_slots_changes_no_bit_of_an_update():
    experiment, learner, episodes = played()
    dirty = with_garbage(episodes)
    there = episodes.present[:, :-1, :, None]
    kept = {**episodes.kept, "told": jnp.where(there, episodes.kept["told"], jnp.nan)}
    assert_same_bits(learned(), learn(experiment, learner, replace(dirty, kept=kept)))
    assert all(vars(learned()[1].finite).values())


@pytest.mark.slow
def test_means_are_over_who_is_there_and_not_over_slots():
    """In the published code they are over all slots, empty ones included."""
    experiment, learner, _ = played()
    wide = learn(experiment, learner, compiled_play(algorithm_of(experiment).team(experiment, learner), 6))
    narrow = learned()[1].scalars
    for name in ("loss_foresight", "loss_contrast", "grouped", "loss_total"):
        assert float(narrow[name]) == pytest.approx(float(wide[1].scalars[name]), rel=1e-4)


@pytest.mark.parametrize("seed", range(8))
def test_groups_hear_their_mean_and_who_has_no_conductor_itself(seed):
    """Agent by agent, in NumPy; in any order, and whatever stands in empty slots."""
    random = np.random.default_rng(seed)
    links = (random.random((6, 6)) < 0.6) | np.eye(6, dtype=bool)
    links[4], links[:, 4] = False, False  # a slot is empty
    draws, said = random.random((6, 7), np.float32), random.normal(size=(6, 3)).astype(np.float32)
    expected, follows, counts = equations.returned(said, links, draws[:, 0], draws[:, 1:], 2.0)

    def elected(order):
        columns = draws[order][:, [0, *(np.asarray(order) + 1)]]
        election = Election.drawn(
            jnp.asarray(columns)[None], jnp.asarray(links[np.ix_(order, order)])[None], 2.0
        )
        return election, np.asarray(election.returned(jnp.asarray(said[order])[None]))[0]

    for order in (list(range(6)), random.permutation(6).tolist()):
        election, heard = elected(order)
        for place, agent in enumerate(order):
            if agent == 4:
                continue
            np.testing.assert_allclose(heard[place], expected[agent], rtol=1e-5, atol=1e-6)
            assert int(election.messages[0, place]) == counts[agent]
            group = None if follows[agent] is None else order.index(follows[agent])
            assert np.flatnonzero(election.member[0, place]).tolist() == ([] if group is None else [group])


def test_draws_of_a_narrow_team_are_those_of_a_wide_one():
    chances = jax.random.uniform(jax.random.key(0), (5,))
    np.testing.assert_array_equal(uniform_draws(chances, 4), uniform_draws(chances, 9)[:, :4])


def seen_first(actor, episodes, row, joined):
    """What a team was told after each of nine steps, all of which look like the first."""
    team = team_of(actor)
    memory = team.first(4, 4)
    present = jnp.asarray(episodes.present[:, 0])
    links = present[:, None, :] & present[:, :, None]
    view = View(episodes.observations[:, 0], present, None, links=links)
    found = []
    for time in range(9):
        now = replace(view, joined=jnp.zeros((4, 4), bool).at[row].set(time in joined))
        chances = jax.random.uniform(jax.random.key(time), (4, 4))
        memory, decision = team.step(memory, now, chances)
        found.append(
            (np.asarray(memory.told), np.asarray(memory.grouped), np.asarray(decision.kept["heard"]))
        )
    return tuple(np.stack(each) for each in zip(*found, strict=True))


@pytest.mark.slow
def test_who_is_alone_hears_itself_and_who_joins_waits_for_the_next_election():
    _, learner, episodes = played()
    actor = learner.networks.actor
    own = np.asarray(actor.message(episodes.observations[:, 0]).mean)
    told, grouped, heard = seen_first(actor, episodes, (2, 1), joined=(6,))
    np.testing.assert_allclose(told[:, 0, 0], np.repeat(own[0, :1], 9, axis=0), rtol=1e-6)
    assert not np.any(grouped[:, 0])
    assert not np.any(heard[:, 0])
    assert np.any(told[5, 2, 1])
    assert not np.any(told[6:8, 2, 1])  # newly there, between two elections
    assert not np.any(grouped[6:8, 2, 1])
    assert np.any(told[8, 2, 1])
    np.testing.assert_array_equal(heard[[1, 2, 3, 5, 6, 7]], 0)


def test_means_of_messages_may_be_negative_and_their_spread_keeps_its_bounds():
    """In the published code a rectifier before them leaves no mean below zero, and hardly any spread."""
    made = softly_bounded(jnp.array([-3.0, 2.0, 99.0, -99.0]))
    assert made.mean.tolist() == [-3, 2]
    np.testing.assert_allclose(made.log_variance, [1.0, -20.0], atol=1e-3)


@pytest.mark.slow
def test_messages_are_counted_and_where_all_links_are_lost_nobody_hears_any():
    _, learner, _ = played()
    actor = learner.networks.actor
    episodes, silent = (
        compiled_play(team_of(actor, loss=loss)) for loss in (LinkLoss(), LinkLoss(share=1.0))
    )
    heard = np.asarray(episodes.kept["heard"])
    assert not np.any(heard[SIZES < 3])  # both of two are elected
    assert np.all(np.any(heard[SIZES > 2], axis=(1, 2)))
    assert not np.any(heard[:, np.arange(25) % 4 > 0])
    assert not np.any(silent.kept["heard"])


def test_a_team_is_played_with_who_sees_whom_and_nobody_alone():
    _, learner, episodes = played()
    actor, rows = learner.networks.actor, np.asarray(episodes.observations[2, 0])
    with pytest.raises(BadInput, match="none of them acts alone"):
        Agent(actor)
    with pytest.raises(BadInput, match="say with `visible`"):
        Players(actor, 4).act(rows)
    assert len(Players(actor, 4).act(rows, visible=np.ones((4, 4), bool))) == 4


def test_what_is_refused_is_a_sentence():
    experiment = small("sog", stored_memory=True)
    with pytest.raises(BadInput, match="stored_memory cannot be on"):
        algorithm_of(experiment).check(experiment, TASK)
