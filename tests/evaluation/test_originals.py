"""The original packages, from the same starts with the same draws, play the same episodes."""

import jax
import numpy as np
import pytest

from pc3d.evaluation.lockstep import ActorTeam, OriginalWorlds, PortWorlds, play_in_lockstep
from pc3d.evaluation.references import ScriptedTeam
from pc3d.evaluation.scripted.foraging import gather
from pc3d.evaluation.scripted.warehouse import deliver
from pc3d.evaluation.starts import rollout_keys
from pc3d.tasks.foraging import Foraging
from pc3d.tasks.warehouse import Warehouse
from tests.evaluation.policies import recorded, small_policy

DRIFT = 1e-2  # of float32 in Spread, where contacts amplify roundings


class RememberingWorlds(OriginalWorlds):
    """The original, with a memory of every state of its only episode."""

    def __init__(self, task, states):
        super().__init__(task, states)
        self.seen = self.states()

    def step(self, keys, actions):
        outcome = super().step(keys, actions)
        self.seen += self.states()
        return outcome


@pytest.mark.parametrize(("task", "size"), [("spread", 10), ("lbf", 8), ("rware", 10)])
def test_a_policy_lives_through_the_same_states_in_the_original_world(task, size):
    policy, port = small_policy(task), recorded(task, size)
    memory = []

    def remembering(game, starts):
        memory.append(RememberingWorlds(game, starts))
        return memory[0]

    team = ActorTeam(policy.actor, greedy=False)
    record = play_in_lockstep(policy.task.with_slots(size), rollout_keys(size, 1), remembering, team)
    states = jax.tree.map(lambda *values: np.stack(values), *memory[0].seen)
    tolerance = DRIFT if task == "spread" else 0
    jax.tree.map(
        lambda one, other: np.testing.assert_allclose(one, other, atol=tolerance), states, port.states
    )
    returns = record.scores(policy.task.with_slots(size)).returns
    np.testing.assert_allclose(returns, port.returns, atol=tolerance, rtol=1e-6)


@pytest.mark.parametrize(
    ("task", "script", "least"),
    [(Warehouse(5), deliver, 90), (Foraging(3), gather, 3.5)],
    ids=["rware", "lbf"],
)
def test_a_busy_team_meets_the_same_requests_queues_and_endings(task, script, least):
    """Scripts deliver often, so that new requests are drawn and robots meet; every reward must agree."""
    keys = rollout_keys(task.slots, 2 if task.name == "rware" else 4)
    port, original = (
        play_in_lockstep(task, keys, worlds, ScriptedTeam(script)) for worlds in (PortWorlds, OriginalWorlds)
    )
    assert port.rewards.sum() > least
    np.testing.assert_array_equal(port.actions[port.played], original.actions[original.played])
    np.testing.assert_allclose(port.rewards, original.rewards, rtol=1e-6)
