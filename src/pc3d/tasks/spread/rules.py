"""The rules of Simple Spread that more than its world must know, and what can be set of them."""

from dataclasses import dataclass
from typing import Literal

import tyro

from pc3d.experiment.ranges import Horizon
from pc3d.experiment.world import Rules

CONTACT_DISTANCE = 0.3  # two radii of 0.15
HORIZON = 25
NEIGHBOURS = 3  # landmarks and teammates that an agent sees
Collisions = Literal["pairs", "sum", "mean"]


@dataclass(frozen=True)
class SpreadRules(Rules):
    """Both measures of collisions are kept apart in every score."""

    collisions: Collisions = "pairs"
    """How the team's reward counts collisions: each pair once, for both agents, or as a mean over agents."""
    horizon: tyro.conf.Suppress[Horizon] = HORIZON  # --horizon, as of every task
