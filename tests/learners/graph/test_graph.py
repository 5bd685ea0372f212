"""Graph: MAPPO with messages. Without rounds it is MAPPO; links of play are those of learning."""

from dataclasses import dataclass, replace
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.experiment.execution import LinkLoss
from pc3d.learners.registry import algorithm_of
from pc3d.learners.round import EpisodeBatch, play_and_learn
from pc3d.play.arena import CompiledArena
from pc3d.play.scores import returns_by_size
from pc3d.play.talking_team import team_of
from pc3d.play.worlds import TaskWorlds
from pc3d.runs.players import Agent, Players
from pc3d.system.errors import BadInput
from pc3d.tasks.entities import EntityKind, view_of
from tests.learners.ppo.test_objective import (
    SIZES,
    TASK,
    compiled_objective,
    compiled_play,
    played,
    prepared,
)
from tests.learners.ppo.whole_updates import after_updates, assert_same_bits
from tests.probes import ActionReward, Probe, probe_experiment
from tests.small import small_experiment


def test_without_rounds_it_is_mappo_to_the_bit():
    assert_same_bits(after_updates("graph", rounds=0), after_updates("mappo"))


def graph(**changes):
    usual = small_experiment("graph")
    return replace(usual, algorithm=replace(usual.algorithm, **changes))


def test_what_was_lost_in_play_is_lost_in_learning():
    usual = graph(link_dropout=0.4, link_renewal=0.3)
    experiment = replace(usual, recipe=replace(usual.recipe, backpropagation_steps=9))
    learner, _ = played(experiment)
    # A fresh head is nearly uniform, whatever was heard.
    learner = eqx.tree_at(
        lambda one: one.networks.actor.conditioning.head.weight, learner, replace_fn=lambda head: 300 * head
    )
    team, keys = team_of(learner.networks.actor, keeps=True), jax.random.split(jax.random.key(1), len(SIZES))
    episodes = compiled_play(TaskWorlds(TASK), team, keys, SIZES, with_global_state=False)
    batch = prepared(experiment, learner, episodes)
    of_five = np.asarray(batch.links)[6:], np.asarray(batch.played)[6:]  # the third episode, in three pieces
    heard = of_five[0].sum(axis=-1)[of_five[1]]
    assert len(set(heard[:, 0].tolist())) > 1
    assert heard.min() >= 1
    said = compiled_objective(learner.networks, batch, experiment)
    assert abs(float(said.divergence)) < 1e-5
    unlost = replace(batch, links=batch.present[..., None] & batch.present[..., None, :])
    assert float(compiled_objective(learner.networks, unlost, experiment).divergence) > 1e-2


@dataclass(frozen=True)
class Hearsay(Probe):
    """Only the first agent has a cue, and everybody should do what it says."""

    name: ClassVar[str] = "hearsay"

    def cue(self, state):
        return jnp.where(jnp.arange(self.slots) == 0, 2.0 * state.cues[0] - 1, 0)

    def reward(self, state, actions):
        return self.share(state, actions == state.cues[0])

    def entities(self, state):
        everybody = EntityKind("agent", {"place": self.cue(state)}, self.present(state))
        return view_of((everybody,), jnp.ones((self.slots, self.slots), bool), ("place",))


@pytest.fixture(scope="module")
def told():
    """A learner of the probe, after some updates, and what the last one came to."""
    experiment, arena = probe_experiment("graph", 40), CompiledArena(Hearsay(3))
    learner = algorithm_of(experiment).fresh(experiment, arena.game)
    for update in range(40):
        numbers = experiment.episodes_of_update(update)
        batch = EpisodeBatch.of(0, numbers, np.resize([3, 3, 1], len(numbers)))
        learner, report = play_and_learn(experiment, arena, learner, batch)
    return learner, report.lesson.scalars


@pytest.mark.slow
def test_what_one_agent_sees_the_others_do_and_without_links_they_guess(told):
    learner, scalars = told
    arena, actor = CompiledArena(Hearsay(3)), learner.networks.actor
    heard, alone = (
        np.mean(returns_by_size(arena, team_of(actor, loss=LinkLoss(share)), (3,), 64)[3])
        for share in (0.0, 1.0)
    )
    steps = arena.game.horizon
    assert heard > 0.95 * steps
    assert alone < 0.8 * steps  # the first one knows, the two others guess
    assert 1 < float(scalars["teammates_heard"]) < 2
    assert 0 < float(scalars["attention_to_self"]) < 1


def test_a_team_is_told_who_sees_whom_and_nobody_plays_alone(told):
    actor = told[0].networks.actor
    observations = Hearsay(3).observe(Hearsay(3).reset(jax.random.key(0), 3))
    with pytest.raises(BadInput, match="play them as a team"):
        Agent(actor)
    with pytest.raises(BadInput, match="say with `visible` who sees whom"):
        Players(actor, 3).act(observations)
    with pytest.raises(BadInput, match="3 zeros and ones for each"):
        Players(actor, 3).act(observations, visible=np.ones((3, 2)))
    together = Players(actor, 3, greedy=True).act(observations, visible=np.ones((3, 3)))
    assert len(set(together.tolist())) == 1


def test_a_task_that_does_not_say_who_sees_whom_is_refused():
    experiment = probe_experiment("graph", 1)
    with pytest.raises(BadInput, match=r"graph sends messages .* does not say who sees what"):
        algorithm_of(experiment).check(experiment, ActionReward(3))
    hosted = replace(graph(), backend="original")
    with pytest.raises(BadInput, match="leave --backend original away"):
        algorithm_of(hosted).check(hosted, Hearsay(3))
