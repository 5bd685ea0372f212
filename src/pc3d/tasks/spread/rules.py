"""What can be set of Simple Spread's rules, because the paper does not say it."""

from dataclasses import dataclass
from typing import Literal

from pc3d.experiment.settings import Rules

Collisions = Literal["pairs", "sum", "mean"]


@dataclass(frozen=True)
class SpreadRules(Rules):
    """Both measures of collisions are kept apart in every score."""

    collisions: Collisions = "pairs"
    """How the team's reward counts collisions: each pair once, for both agents, or as a mean over agents."""
