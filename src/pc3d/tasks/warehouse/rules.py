"""What can be set of RWARE's rules."""

from dataclasses import dataclass

import tyro

from pc3d.experiment.ranges import Horizon
from pc3d.experiment.world import Rules

HORIZON = 500


@dataclass(frozen=True)
class WarehouseRules(Rules):
    """The warehouse itself stays as it is."""

    horizon: tyro.conf.Suppress[Horizon] = HORIZON  # --horizon, as of every task
