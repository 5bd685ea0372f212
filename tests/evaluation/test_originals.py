"""The original packages, from the same starts with the same draws, play the same episodes."""

import jax
import numpy as np
import pytest

from pc3d.play.port_worlds import PortWorlds
from pc3d.evaluation.references import ScriptedTeam
from pc3d.play.scores import score_team
from pc3d.tasks.foraging.script import gather
from pc3d.tasks.warehouse.script import deliver
from pc3d.play.starts import rollout_keys
from pc3d.play.hosted.original import OriginalOnHost
from pc3d.play.lockstep import ActorTeam, play_in_lockstep
from pc3d.tasks.foraging.world import Foraging
from pc3d.tasks.task import Outcome
from pc3d.tasks.warehouse.world import Warehouse
from tests.evaluation.policies import recorded, small_policy

DRIFT = 1e-2  # of float32 in Spread, where contacts amplify roundings


class OriginalWorlds:
    """What a worker process holds, in this process, so that a script can look inside."""

    def __init__(self, task, keys, team_sizes):
        self.worlds = [OriginalOnHost(task.name, "pairs", size) for size in team_sizes]
        self.views = [world.begin(key) for world, key in zip(self.worlds, keys, strict=True)]
        self.seen = self.states()
        self.last = [None] * len(self.worlds)

    def states(self):
        return [world.world.read() for world in self.worlds]

    def observations(self):
        return np.stack(self.views)

    def step(self, going, keys, actions):
        for place in np.flatnonzero(going):
            self.last[place] = self.worlds[place].step(keys[place], actions[place])
            self.views[place] = self.last[place].views
        self.seen += self.states()
        names = self.worlds[0].port.measure_names
        return Outcome(
            np.array([step.reward for step in self.last]),
            np.array([step.terminated for step in self.last]),
            np.array([step.truncated for step in self.last]),
            {
                name: np.array([step.measures[place] for step in self.last])
                for place, name in enumerate(names)
            },
        )


@pytest.mark.parametrize(("task", "size"), [("spread", 10), ("lbf", 8), ("rware", 10)])
def test_a_policy_lives_through_the_same_states_in_the_original_world(task, size):
    policy, port = small_policy(task), recorded(task, size)
    memory = []

    def remembering(*start):
        memory.append(OriginalWorlds(*start))
        return memory[0]

    team, narrow = ActorTeam(policy.actor), policy.task.with_slots(size)
    returns = score_team(narrow, rollout_keys(size, 1), size, remembering, team).returns
    states = jax.tree.map(lambda *values: np.stack(values), *memory[0].seen)
    tolerance = DRIFT if task == "spread" else 0
    jax.tree.map(
        lambda one, other: np.testing.assert_allclose(one, other, atol=tolerance), states, port.states
    )
    np.testing.assert_allclose(returns, port.returns, atol=tolerance, rtol=1e-6)


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
        play_in_lockstep(task, keys, sizes, worlds, ScriptedTeam(script))
        for worlds in (PortWorlds, OriginalWorlds)
    )
    assert port.rewards.sum() > least
    np.testing.assert_array_equal(port.actions[port.played], original.actions[original.played])
    np.testing.assert_allclose(port.rewards, original.rewards, rtol=1e-6)
