"""SOG: without elections it is REFIL; what was heard in play is a constant of learning."""

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.experiment.execution import LinkLoss
from pc3d.experiment.sog_settings import SogSettings
from pc3d.learners.q_learning.conducting import confusion
from pc3d.learners.registry import algorithm_of
from pc3d.networks.conducted_actor import softly_bounded
from pc3d.networks.normal import Normal
from pc3d.play.arena import CompiledArena
from pc3d.play.conducted_team import Election
from pc3d.play.loop import play
from pc3d.play.scores import returns_by_size
from pc3d.play.talking_team import team_of
from pc3d.play.worlds import TaskWorlds
from pc3d.system.errors import BadInput
from pc3d.tasks.entities import EntityKind, view_of
from pc3d.tasks.spread.world import Spread
from tests.learners.played import with_garbage
from tests.learners.replayed_probes import EPISODES, trained_with
from tests.probes import Probe
from tests.small import random_team, small_experiment

TASK, SIZES = Spread(4).shown_by_entity(), np.array([1, 3, 4, 2])
ONE_STEP = {"trace": 0.0, "gradient_steps": 1, "batch_size": 4}


@partial(jax.jit, static_argnums=0)
def learn(experiment, learner, episodes):
    return algorithm_of(experiment).learn(experiment, TASK, learner, episodes, jax.random.key(0))


@jax.jit
def compiled_play(team):
    return play(TaskWorlds(TASK), team, jax.random.split(jax.random.key(1), 4), SIZES, with_global_state=True)


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


def test_what_was_heard_is_learned_from_as_it_was_and_what_is_said_learns_from_the_next_election():
    _, learner, episodes = played()
    after, lesson = learned()
    assert float(lesson.scalars["loss_foresight"]) > 0
    expected = np.asarray(episodes.kept["conducted"])[np.asarray(episodes.present[:, :-1])].mean()
    assert float(lesson.scalars["conducted"]) == pytest.approx(expected, rel=1e-5)
    assert 0 < expected < 1
    before, moved = (one.networks.actor.to_message.weight for one in (learner, after))
    assert not np.array_equal(before, moved)
    # The team's value and what is imagined teach nobody what to say: messages are constants.
    plain, _ = learn(small("sog", foresight_weight=0.0, contrast_weight=0.0), learner, episodes)
    np.testing.assert_array_equal(before, plain.networks.actor.to_message.weight)
    assert not np.array_equal(*(one.networks.actor.listening.weight for one in (learner, plain)))


def test_what_stands_in_padded_slots_changes_no_bit_of_an_update():
    experiment, learner, episodes = played()
    dirty = with_garbage(episodes)
    there = episodes.present[:, :-1, :, None]
    kept = {**episodes.kept, "told": jnp.where(there, episodes.kept["told"], jnp.nan)}
    assert_same_bits(learned(), learn(experiment, learner, replace(dirty, kept=kept)))
    assert all(vars(learned()[1].finite).values())


def test_groups_hear_their_mean_and_who_has_no_conductor_itself():
    """Agent by agent, in NumPy: the first and the fourth are elected, the third sees neither."""
    links = np.ones((1, 5, 5), bool)
    links[0, 2, [0, 3]] = links[0, 4] = links[0, :, 4] = False  # and a slot is empty
    draws = np.array(random_team(0, 1, 5, 6)) % 1
    draws[0, :, 0] = [0.1, 0.9, 0.8, 0.3, 0.0]
    draws[0, 1, [1, 4]] = [0.2, 0.7]  # prefers the fourth
    said = np.array(random_team(1, 1, 5, 3))
    election = Election.drawn(jnp.asarray(draws), jnp.asarray(links), 2.0)
    returned = np.asarray(election.returned(jnp.asarray(said)))[0]
    np.testing.assert_allclose(returned[0], said[0, 0], rtol=1e-5)
    for member in (1, 3):
        np.testing.assert_allclose(returned[member], said[0, [1, 3]].mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(returned[2], said[0, 2], rtol=1e-5)
    assert election.conducted[0].tolist() == [True, True, False, True, False]
    assert election.messages[0].tolist() == [0, 1, 0, 1, 0]
    wider = Election.drawn(*(jnp.pad(part, ((0, 0), (0, 2), (0, 2))) for part in (draws, links)), 2.0)
    np.testing.assert_array_equal(wider.member[:, :5, :5], election.member)


def test_losses_of_messages_are_their_equations():
    one, other = (Normal(random_team(key, 3), -jnp.abs(random_team(key + 1, 3))) for key in (2, 4))
    means = [np.asarray(each.mean) for each in (one, other)]
    spreads = [np.exp(np.asarray(each.log_variance) / 2) for each in (one, other)]
    kl = sum(
        np.log(b / a) + (a**2 + (m - k) ** 2) / (2 * b**2) - 0.5
        for a, b, m, k in zip(*spreads, *means, strict=True)
    )
    np.testing.assert_allclose(one.divergence_from(other), kl, rtol=1e-5)
    team, said = Normal(random_team(6, 4, 3), -jnp.abs(random_team(7, 4, 3))), random_team(8, 4, 3)
    among = np.array([True, True, False, True])
    made = np.asarray(confusion(team, said, jnp.asarray(among)))
    deviations = np.exp(np.asarray(team.log_variance) / 2)
    apart = (np.asarray(said)[:, None] - np.asarray(team.mean)) / deviations
    likely = np.prod(np.exp(-(apart**2) / 2) / deviations / np.sqrt(2 * np.pi), axis=-1)
    for agent in np.flatnonzero(among):
        expected = -np.log(likely[agent, agent] / likely[agent][among].mean())
        np.testing.assert_allclose(made[agent], expected, rtol=1e-4, atol=1e-5)
    alone = confusion(team, said, jnp.array([True, False, False, False]))
    assert abs(float(alone[0])) < 1e-5


def test_means_of_messages_may_be_negative_and_their_spread_keeps_its_bounds():
    """In the published code a rectifier before them leaves no mean below zero."""
    made = softly_bounded(jnp.array([-3.0, 2.0, 99.0, -99.0]))
    assert made.mean.tolist() == [-3, 2]
    np.testing.assert_allclose(made.log_variance, [1.0, -20.0])


@dataclass(frozen=True)
class Rumour(Probe):
    """Only the first agent sees a bit, and everybody should do what it says: best return 5."""

    name: ClassVar[str] = "rumour"
    most_visible: ClassVar[int] = 3

    def reward(self, state, actions):
        return self.share(state, actions == state.cues[0])

    def entities(self, state):
        first = jnp.arange(self.slots) == 0
        columns = {"place": jnp.zeros(self.slots), "bit": jnp.where(first, 2.0 * state.cues - 1, 0)}
        team = EntityKind("agent", columns, self.present(state), known=("bit",))
        return view_of((team,), jnp.ones((self.slots, self.slots), bool), ("place",))


SETTINGS = SogSettings(
    **{"learning_rate": 5e-3, "batch_size": 32, "gradient_steps": 4, "update_every_episodes": EPISODES},
    **{"capacity": 640, "target_rate": 0.05, "trace": 0.6},
    **{"exploration_end": 0.1, "exploration_steps": 1500, "mixing_width": 8, "hypernetwork_widths": (16,)},
    **{"attention_width": 8, "attention_heads": 1, "conductors": 3.0, "election_every": 1},
    **{"foresight_weight": 0.1, "contrast_weight": 0.1, "imagination": 0.1},
)


def test_what_one_agent_sees_its_group_does_and_without_links_the_others_guess():
    learner, worst = trained_with(SETTINGS, "sog", lambda slots: Rumour(slots).shown_by_entity(), updates=40)
    arena, actor = CompiledArena(Rumour(3).shown_by_entity()), learner.networks.actor
    assert worst > 4.2
    alone = np.mean(returns_by_size(arena, team_of(actor, loss=LinkLoss(1.0)), (3,), 64)[3])
    assert alone < 4.2  # the first one knows, the two others guess


def test_what_is_refused_is_a_sentence():
    experiment = small("sog", stored_memory=True)
    with pytest.raises(BadInput, match="stored_memory cannot be on"):
        algorithm_of(experiment).check(experiment, TASK)
