"""RWARE: all that pc3d has of it."""

from pc3d.tasks.entry import Part, TaskEntry
from pc3d.tasks.warehouse.paper import PAPER

ENTRY = TaskEntry(
    title="RWARE",
    world=Part("pc3d.tasks.warehouse.world", "Warehouse"),
    paper=PAPER,
    original=Part("pc3d.tasks.warehouse.original", "OriginalWarehouse"),
    parity=Part("pc3d.tasks.warehouse.parity", "CASE"),
    script=Part("pc3d.tasks.warehouse.script", "deliver"),
    replay=Part("pc3d.tasks.warehouse.replay", "warehouse_replay"),
    viewer=__name__,
)
