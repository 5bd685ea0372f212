"""The original environments, by the name of the task; their packages are imported only when asked for."""

from importlib import import_module
from typing import Any

from pc3d.errors import unknown_name
from pc3d.tasks.originals.world import OriginalWorld
from pc3d.tasks.task import AnyTask

ORIGINALS = {
    "spread": ("pc3d.tasks.originals.spread", "OriginalSpread"),
    "lbf": ("pc3d.tasks.originals.foraging", "OriginalForaging"),
    "rware": ("pc3d.tasks.originals.warehouse", "OriginalWarehouse"),
}


def original_world(task: AnyTask) -> OriginalWorld[Any]:
    """The original game for a team that fills all of the task's slots."""
    if task.name not in ORIGINALS:
        raise unknown_name("original environment", task.name, ORIGINALS)
    module, name = ORIGINALS[task.name]
    world: OriginalWorld[Any] = getattr(import_module(module), name)(task)
    return world
