"""The count of operations against sums done by hand."""

import jax
import pytest

from pc3d.learners.ppo.arithmetic import operations
from pc3d.networks.build import build
from pc3d.tasks.spread.world import Spread
from tests.small import small_experiment

# Spread sees 16 numbers and has 5 actions; the small actor is 16 and 12 wide with a memory of 10.
ACTOR = 16 * 16 + 16 * 12 + 12 * 30 + 10 * 30 + 10 * 5
CONTEXT = 10 * 8 + 10 * 1 + 8 * 20  # to context, to reliance, to scale and shift
TEAM_STEPS, AGENT_STEPS = 50, 130


def counted(method):
    networks = build(jax.random.key(0), small_experiment(method), Spread(10))
    return operations(networks, AGENT_STEPS, TEAM_STEPS)


@pytest.mark.parametrize(
    ("method", "per_agent", "per_team"),
    [
        ("ippo", 3 * (ACTOR + 10) - 16 * 16, 0),
        ("mappo", 3 * ACTOR - 16 * 16, 3 * (170 * 16 + 16) - 170 * 16),
        ("pic", 3 * (ACTOR + 16 * 16 + 16 * 8) - 2 * 16 * 16, 3 * (8 * 16 + 16)),
        (
            "pc3d",
            3 * (ACTOR + CONTEXT + 16 * 16 + 16 * 8 + 2 * 3 * 8) - 2 * 16 * 16,
            3 * (25 * 16 + 16),
        ),
    ],
)
def test_operations_are_three_passes_through_every_product_but_the_observations(method, per_agent, per_team):
    assert counted(method) == 2 * (AGENT_STEPS * per_agent + TEAM_STEPS * per_team)
