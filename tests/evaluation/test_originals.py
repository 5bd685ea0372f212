"""The original packages, from the same starts with the same draws, play the same episodes."""

import jax
import numpy as np
import pytest

from pc3d.evaluation.references import ScriptedTeam
from pc3d.play.actor_team import ActorTeam
from pc3d.play.hosted.original import OriginalOnHost
from pc3d.play.loop import play_on_host
from pc3d.play.starts import rollout_keys
from pc3d.play.worlds import TaskWorlds
from pc3d.tasks.foraging.script import gather
from pc3d.tasks.foraging.world import Foraging
from pc3d.tasks.registry import entry_of
from pc3d.tasks.task import Outcome
from pc3d.tasks.warehouse.script import deliver
from pc3d.tasks.warehouse.world import Warehouse
from tests.evaluation.policies import recorded, small_policy

DRIFT = 1e-2  # of float32 in Spread, where contacts amplify roundings


class OriginalWorlds:
    """What worker processes hold, in this process, so that a script can look inside."""

    def __init__(self, game):
        self.game = game

    def begin(self, keys, team_sizes, following=None):
        rules = entry_of(self.game.name).rules()
        self.worlds = [OriginalOnHost(self.game.name, rules, size) for size in team_sizes]
        self.views = [world.begin(key) for world, key in zip(self.worlds, raw(keys), strict=True)]
        self.last = [None] * len(self.worlds)
        self.seen = [self.states()]
        return self.seen[0]

    def states(self):
        return stacked([world.world.read() for world in self.worlds])

    def present(self, state):
        return np.ones((len(self.worlds), self.game.slots), bool)

    def observe(self, state):
        return np.stack(self.views)

    def allowed(self, state):
        return None

    def global_state(self, state):
        raise NotImplementedError

    def visible(self, state):
        raise NotImplementedError

    def step(self, going, keys, state, actions, following=None):
        for place in np.flatnonzero(going):
            self.last[place] = self.worlds[place].step(raw(keys)[place], np.asarray(actions[place]))
            self.views[place] = self.last[place].views
        self.seen.append(self.states())
        measures = np.array([step.measures for step in self.last])
        return self.seen[-1], Outcome(
            np.array([step.reward for step in self.last]),
            np.array([step.terminated for step in self.last]),
            np.array([step.truncated for step in self.last]),
            dict(zip(self.game.measure_names, measures.T, strict=True)),
        )


def raw(keys):
    return np.asarray(jax.random.key_data(keys))


def stacked(states):
    return jax.tree.map(lambda *values: np.stack(values), *states)


@pytest.mark.parametrize(("task", "size"), [("spread", 10), ("lbf", 8), ("rware", 10)])
def test_a_policy_lives_through_the_same_states_in_the_original_world(task, size):
    policy, port = small_policy(task), recorded(task, size)
    worlds = OriginalWorlds(policy.task.with_slots(size))
    played = play_on_host(worlds, ActorTeam(policy.actor), rollout_keys(size, 1), np.array([size]))
    states = jax.tree.map(lambda values: values[:, 0], stacked(worlds.seen))
    tolerance = DRIFT if task == "spread" else 0
    jax.tree.map(
        lambda one, other: np.testing.assert_allclose(one, other, atol=tolerance), states, port.states
    )
    returned = policy.task.reported_return(played.total_reward[0], size)
    np.testing.assert_allclose(returned, port.returns, atol=tolerance, rtol=1e-6)


@pytest.mark.parametrize(
    ("task", "script", "least"),
    [(Warehouse(5), deliver, 90), (Foraging(3), gather, 3.5)],
    ids=["rware", "lbf"],
)
def test_a_busy_team_meets_the_same_requests_queues_and_endings(task, script, least):
    """Scripts deliver often, so that new requests are drawn and robots meet; every reward must agree."""
    keys = rollout_keys(task.slots, 2 if task.name == "rware" else 4)
    sizes = np.full(len(keys), task.slots)
    port, original = (
        play_on_host(worlds, ScriptedTeam(script, task), keys, sizes)
        for worlds in (TaskWorlds(task), OriginalWorlds(task))
    )
    assert port.rewards.sum() > least
    np.testing.assert_array_equal(port.actions[port.played], original.actions[original.played])
    np.testing.assert_allclose(port.rewards, original.rewards, rtol=1e-6)
