"""What can be set of level-based foraging's rules."""

from dataclasses import dataclass

import tyro

from pc3d.experiment.ranges import Horizon
from pc3d.experiment.world import Rules

HORIZON = 50


@dataclass(frozen=True)
class ForagingRules(Rules):
    """Both are as in lbforaging if nothing is said."""

    horizon: tyro.conf.Suppress[Horizon] = HORIZON  # --horizon, as of every task
    respawn: bool = False
    """Whether food grows again elsewhere, so that no episode ends with the last one: our extension."""

    @property
    def of_original(self) -> bool:
        return not self.respawn
