"""RWARE: all that pc3d has of it."""

from pathlib import Path

from pc3d.tasks.entry import Part, TaskEntry, read_paper
from pc3d.tasks.warehouse.rules import CAPABILITIES, WarehouseRules

ENTRY = TaskEntry(
    title="RWARE",
    world=Part("pc3d.tasks.warehouse.world", "Warehouse"),
    about="A multi-robot warehouse: robots fetch the shelves that are asked for, bring them to a goal and "
    "put them back, in each other's way.",
    rules=WarehouseRules,
    paper=read_paper(Path(__file__).with_name("paper.toml")),
    original=Part("pc3d.tasks.warehouse.original", "OriginalWarehouse"),
    parity=Part("pc3d.tasks.warehouse.parity", "CASE"),
    script=Part("pc3d.tasks.warehouse.script", "deliver"),
    replay=Part("pc3d.tasks.warehouse.replay", "warehouse_replay"),
    viewer=__name__,
    capabilities=CAPABILITIES,
    mixes=Path(__file__).with_name("mixes.toml"),
)
