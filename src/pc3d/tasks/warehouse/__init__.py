"""RWARE: all that pc3d has of it."""

from pathlib import Path

from pc3d.tasks.entry import Part, TaskEntry, read_paper
from pc3d.tasks.warehouse.rules import CAPABILITIES, WarehouseRules

ENTRY = TaskEntry(
    title="RWARE",
    world=Part("pc3d.tasks.warehouse.world", "Warehouse"),
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
