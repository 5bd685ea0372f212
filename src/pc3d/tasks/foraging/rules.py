"""What can be set of level-based foraging's rules."""

from dataclasses import dataclass

import tyro

from pc3d.experiment.kinds import Capability
from pc3d.experiment.ranges import Horizon
from pc3d.experiment.world import Rules
from pc3d.tasks.foraging.field import SIGHT

HORIZON = 50
FARTHEST_SIGHT = 3
STRONGEST = 10  # the usual agents' level is 1 or 2
CAPABILITIES = (
    Capability("level", 1, STRONGEST, usual=None, whole=True, in_view=True),
    Capability("sight", 1, FARTHEST_SIGHT, usual=SIGHT, whole=True),
)
LEVEL, SEES = range(len(CAPABILITIES))  # their columns


@dataclass(frozen=True)
class ForagingRules(Rules):
    """Both are as in lbforaging if nothing is said."""

    horizon: tyro.conf.Suppress[Horizon] = HORIZON  # --horizon, as of every task
    respawn: bool = False
    """Whether food grows again elsewhere, so that no episode ends with the last one: our extension."""

    @property
    def of_original(self) -> bool:
        return not self.respawn
