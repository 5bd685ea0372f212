"""The probe in which action one is good, under a name of its own."""

from dataclasses import dataclass
from typing import ClassVar

from tests.probes import ActionReward


@dataclass(frozen=True)
class NamedProbe(ActionReward):
    name: ClassVar[str] = "probe"
