"""A small foraging game that others published numbers for: Foraging-2s-8x8-2p-2f-coop, in our view of it."""

from dataclasses import dataclass
from typing import ClassVar

from pc3d.tasks.foraging.field import Field
from pc3d.tasks.foraging.world import Foraging


@dataclass(frozen=True)
class SmallForaging(Foraging):
    """Eight cells a side and two foods; all else is LBF as it comes with pc3d."""

    name: ClassVar[str] = "small-lbf"

    @property
    def field(self) -> Field:
        return Field(side=8, foods=2)
