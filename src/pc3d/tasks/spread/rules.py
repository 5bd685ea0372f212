"""The rules of Simple Spread that more than its world must know, and what can be set of them."""

from dataclasses import dataclass
from typing import Literal

import tyro

from pc3d.experiment.kinds import Capability
from pc3d.experiment.ranges import Horizon
from pc3d.experiment.world import Rules

RADIUS = 0.15
CONTACT_DISTANCE = 2 * RADIUS
ACTION_FORCE = 5.0
UNLIMITED = 1000.0  # a speed that nobody reaches
CAPABILITIES = (
    Capability("size", 0.05, 0.3, usual=RADIUS),  # the radius
    Capability("acceleration", 1.0, 10.0, usual=ACTION_FORCE),  # the force of an action
    Capability("top_speed", 0.2, 4.0, usual=UNLIMITED),
    Capability("mass", 0.25, 4.0, usual=1.0),
)
HORIZON = 25
HELD_WITHIN = 0.1  # of a landmark: MPE, too, counts one as occupied then
NEIGHBOURS = 3  # landmarks and teammates that an agent sees
Collisions = Literal["pairs", "sum", "mean"]


@dataclass(frozen=True)
class SpreadRules(Rules):
    """Both measures of collisions are kept apart in every score."""

    collisions: Collisions = "pairs"
    """How the team's reward counts collisions: each pair once, for both agents, or as a mean over agents."""
    horizon: tyro.conf.Suppress[Horizon] = HORIZON  # --horizon, as of every task
