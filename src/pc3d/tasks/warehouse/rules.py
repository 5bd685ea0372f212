"""What can be set of RWARE's rules."""

from dataclasses import dataclass

import tyro

from pc3d.experiment.kinds import Capability
from pc3d.experiment.ranges import Horizon
from pc3d.experiment.world import Rules

HORIZON = 500
SENSOR_RANGE = Capability("sensor_range", 1, 2, usual=1, whole=True)
CAPABILITIES = (
    Capability("period", 1, 4, usual=1, whole=True),
    SENSOR_RANGE,
    Capability("carries", 0, 1, usual=1, whole=True),
)


@dataclass(frozen=True)
class WarehouseRules(Rules):
    """The warehouse itself stays as it is."""

    horizon: tyro.conf.Suppress[Horizon] = HORIZON  # --horizon, as of every task
