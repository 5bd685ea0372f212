"""COPA: with a silent coach it is A-QMIX; what is told in learning is what is told in play."""

from dataclasses import replace
from functools import lru_cache, partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.learners.experience import decisions_of, remembered_by, seen_in
from pc3d.learners.q_learning.chance import Chance
from pc3d.learners.q_learning.coaching import heard_by, says, told_in
from pc3d.learners.registry import algorithm_of
from pc3d.play.coached_team import CoachedMemory, CoachedTeam
from pc3d.play.loop import play
from pc3d.play.talking_team import team_of
from pc3d.play.team import View
from pc3d.play.worlds import TaskWorlds
from pc3d.runs.players import Agent, Players
from pc3d.system.errors import BadInput
from pc3d.tasks.entity_rows import unpacked
from pc3d.tasks.spread.world import Spread
from tests import coach_equations as equations
from tests.learners.played import with_garbage
from tests.small import small_experiment

TASK, SIZES = Spread(4).shown_by_entity(), np.array([1, 3, 4, 2])
WIDE = TASK.with_slots(6)
FEATURES, ACTIONS = 6, 5
ONE_STEP = {"trace": 0.0, "gradient_steps": 1, "batch_size": 4}


@partial(jax.jit, static_argnums=(0, 1))
def learn(experiment, task, learner, episodes):
    return algorithm_of(experiment).learn(experiment, task, learner, episodes, jax.random.key(0))


@partial(jax.jit, static_argnums=0)
def compiled_play(task, team):
    return play(TaskWorlds(task), team, jax.random.split(jax.random.key(1), 4), SIZES, with_global_state=True)


def copa(**changes):
    usual = small_experiment("copa")
    return replace(usual, algorithm=replace(usual.algorithm, **ONE_STEP, **changes))


@lru_cache
def played(task=TASK):
    """A learner whose slow copy differs from its networks, and episodes with all entities beside them."""
    experiment = copa()
    learner = algorithm_of(experiment).fresh(experiment, Spread(10))
    networks = jax.tree.map(lambda leaf: leaf * 1.2 - 0.03, learner.networks)
    slow = jax.tree.map(lambda leaf: leaf * 1.1 + 0.01, networks)
    learner = eqx.tree_at(lambda one: (one.networks, one.slow), learner, (networks, slow))
    return experiment, learner, compiled_play(task, algorithm_of(experiment).team(experiment, learner))


@lru_cache
def learned():
    experiment, learner, episodes = played()
    return learn(experiment, TASK, learner, episodes)


def assert_same_bits(one, other):
    for mine, theirs in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_with_a_silent_coach_it_is_a_qmix_to_the_bit():
    silent, base = copa(broadcast_every=0), small_experiment("a-qmix")
    base = replace(base, algorithm=replace(base.algorithm, **ONE_STEP))
    found = []
    for experiment in (silent, base):
        learner = algorithm_of(experiment).fresh(experiment, Spread(10))
        episodes = compiled_play(TASK, algorithm_of(experiment).team(experiment, learner))
        found.append((episodes, *learn(experiment, TASK, learner, episodes)))
    assert found[0][2].scalars.keys() == found[1][2].scalars.keys()
    assert_same_bits(*found)


@jax.jit
def told_to(networks, episodes):
    """What everybody remembers, is told and says at every moment, for who learns from the episodes."""
    chance = Chance(noise=jnp.zeros((4, 7, 4, 4)))
    words = told_in(networks, episodes, chance, roster_changes=False)
    remembered = remembered_by(networks.actor, episodes, seen_in(episodes), roster_changes=False)
    return remembered, words, says(networks.actor, remembered, words.message).logits


@lru_cache
def deployed():
    """Episodes that a policy played, and what who learns from them makes of it."""
    _, learner, _ = played()
    episodes = compiled_play(TASK, replace(team_of(learner.networks.acting), keeps=True))
    return episodes, *told_of(learner, episodes)


def told_of(learner, episodes):
    return told_to(learner.networks, replace(episodes, kept=None, measures={}))


def test_what_is_told_in_learning_is_what_is_told_in_play_every_four_steps():
    episodes, remembered, words, _ = deployed()
    present = np.asarray(episodes.present[:, :-1])
    kept, found = np.asarray(episodes.kept["memory"])[present], np.asarray(remembered)[:, :-1][present]
    np.testing.assert_allclose(kept, found, rtol=1e-4, atol=1e-5)
    spoken = (np.arange(25) % 4 == 0)[None, :, None]
    np.testing.assert_array_equal(episodes.kept["heard"], present & spoken)
    # So it acts on those words, and on no others.
    message = np.asarray(words.message)
    np.testing.assert_array_equal(message[:, 4:7], np.repeat(message[:, 4:5], 3, axis=1))
    assert not np.array_equal(message[2, 3, 0], message[2, 4, 0])


def test_actions_of_play_are_the_best_by_what_learning_says():
    episodes, _, _, logits = deployed()
    best = np.argmax(np.asarray(logits)[:, :-1], axis=-1)
    there = np.asarray(decisions_of(episodes))
    assert (best[there] == np.asarray(episodes.actions)[there]).mean() > 0.99  # but for equals


def test_losses_of_the_coach_are_their_equations():
    experiment, learner, episodes = played()
    networks, (_, lesson) = learner.networks, learned()
    noise = algorithm_of(experiment).chance(experiment, TASK, episodes, jax.random.key(0)).noise
    remembered = np.asarray(told_of(learner, episodes)[0], np.float64)
    rows = unpacked(episodes.global_states, FEATURES)
    features, numbers = np.asarray(rows.features, np.float64), np.asarray(rows.numbers)
    surprises, entropies = [], []
    for episode, size in enumerate(SIZES):
        for time in range(25):
            spoken = time - time % 4
            then, now = (features[episode, at][numbers[episode, at] != 0] for at in (spoken, time))
            for agent in range(size):
                mean, log_variance = equations.advice(networks.critic.coach, then[agent], then)
                drawn = mean + np.exp(log_variance / 2) * np.asarray(noise[episode, spoken // 4, agent])
                entropies.append(equations.entropy(log_variance))
                known = remembered[episode, time, agent], int(episodes.actions[episode, time, agent])
                surprises.append(equations.surprise(networks.critic, *known, ACTIONS, now[agent], now, drawn))
    scalars = {name: float(value) for name, value in lesson.scalars.items()}
    assert scalars["loss_recognition"] == pytest.approx(np.mean(surprises), rel=1e-5)
    assert scalars["broadcast_entropy"] == pytest.approx(np.mean(entropies), rel=1e-5)
    expected = scalars["loss_value"] + 1e-3 * np.mean(surprises) - 1e-4 * np.mean(entropies)
    assert scalars["loss_total"] == pytest.approx(expected, rel=1e-5)


def test_the_teams_value_alone_teaches_the_coach():
    _, learner, episodes = played()
    alone = copa(recognition_weight=0.0, entropy_weight=0.0)
    after, _ = learn(alone, TASK, learner, episodes)
    for layer in ("to_mean", "to_log_variance"):
        before, moved = (getattr(one.networks.critic, layer).weight for one in (learner, after))
        assert not np.array_equal(before, moved)
    np.testing.assert_array_equal(
        *(one.networks.critic.recogniser.layers[0].weight for one in (learner, after))
    )


def test_targets_hear_the_slow_coach():
    experiment, learner, episodes = played()
    other = eqx.tree_at(lambda one: one.slow.critic.to_mean.bias, learner, replace_fn=lambda bias: bias + 1)
    values = [
        float(learn(experiment, TASK, one, episodes)[1].scalars["value_error"]) for one in (learner, other)
    ]
    assert abs(values[0] - values[1]) > 1e-4


def test_what_was_seen_first_is_remembered_longer_than_a_step():
    """In the published code what is carried is what attention found: it forgets after a step."""
    _, learner, episodes = played()
    rows = episodes.observations.at[2, 0].multiply(3.0)
    moved = replace(episodes, observations=jnp.where(episodes.observations == 0, 0, rows))
    one, other = (np.asarray(told_of(learner, each)[0])[2, :, :4] for each in (episodes, moved))
    assert (np.abs(one - other).max(axis=(1, 2))[:6] > 1e-6).all()


def test_means_are_over_who_is_there_and_not_over_slots():
    experiment, learner, _ = played()
    narrow, wide = (learn(experiment, task, learner, played(task)[2])[1].scalars for task in (TASK, WIDE))
    for name in ("loss_recognition", "broadcast_entropy", "broadcast_moved", "loss_total"):
        assert float(narrow[name]) == pytest.approx(float(wide[name]), rel=1e-4)


def test_what_stands_in_padded_slots_changes_no_bit_of_an_update():
    experiment, learner, episodes = played()
    dirty = with_garbage(episodes)
    rows = unpacked(dirty.global_states, FEATURES)
    features = jnp.where(rows.numbers[..., None] == 0, jnp.nan, rows.features)
    states = jnp.concatenate([features, rows.numbers[..., None]], axis=-1)
    dirty = replace(dirty, global_states=states.reshape(dirty.global_states.shape))
    assert_same_bits(learned(), learn(experiment, TASK, learner, dirty))
    assert all(vars(learned()[1].finite).values())


def test_who_joins_waits_for_the_next_word():
    present = np.ones((1, 10, 3), bool)
    present[0, :2, 1] = present[0, :4, 2] = present[0, 5, 0] = False
    heard = np.asarray(heard_by(present, 4))[0].T.astype(int).tolist()
    assert heard == [
        [1, 1, 1, 1, 1, 0, 0, 0, 1, 1],  # went away after a word
        [0, 0, 0, 0, 1, 1, 1, 1, 1, 1],
        [0, 0, 0, 0, 1, 1, 1, 1, 1, 1],  # came with it
    ]


def test_a_thrifty_coach_says_what_has_moved_and_a_newcomer_is_told_at_the_next_word():
    _, learner, episodes = played()
    actor = learner.networks.acting
    team = CoachedTeam(actor, every=2, thrift=1e9)
    memory = team.first(4, 4)
    view = View(episodes.observations[:, 0], episodes.present[:, 0], None, whole=episodes.global_states[:, 0])
    chances, sent = jnp.zeros((4, 4)), []
    newcomer = jnp.zeros((4, 4), bool).at[2, 1].set(True)
    for time in range(6):
        now = replace(view, joined=newcomer if time == 3 else jnp.zeros((4, 4), bool))
        memory, decision = team.step(memory, now, chances)
        sent.append(np.asarray(decision.kept["heard"])[2, :2].tolist())
    nothing = [False, False]
    assert sent == [[True, True], nothing, nothing, nothing, [False, True], nothing]
    silent = CoachedTeam(actor, every=0)
    alone, decision = silent.step(silent.first(4, 4), view, chances)
    assert isinstance(alone, CoachedMemory)
    assert not np.any(decision.kept["heard"])
    assert not np.any(alone.told)


def test_a_team_is_played_with_its_coach_and_nobody_alone():
    _, learner, episodes = played()
    actor, rows = learner.networks.acting, np.asarray(episodes.observations[2, 0])
    whole = np.asarray(episodes.global_states[2, 0])
    with pytest.raises(BadInput, match="listen to a coach"):
        Agent(actor)
    players = Players(actor, 4)
    with pytest.raises(BadInput, match="give it with `whole`"):
        players.act(rows)
    with pytest.raises(BadInput, match="rows of 7 numbers"):
        players.act(rows, whole=whole[:-1])
    team = team_of(actor)
    view = View(jnp.asarray(rows[None]), jnp.ones((1, 4), bool), whole=jnp.asarray(whole[None]))
    _, decision = team.step(team.first(1, 4), view, jnp.zeros((1, 4)))
    np.testing.assert_array_equal(players.act(rows, whole=whole), decision.actions[0])
