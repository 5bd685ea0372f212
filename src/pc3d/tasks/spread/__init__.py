"""Simple Spread: all that pc3d has of it."""

from pathlib import Path

from pc3d.tasks.entry import Part, TaskEntry, read_paper
from pc3d.tasks.spread.rules import CAPABILITIES, SpreadRules

ENTRY = TaskEntry(
    title="Spread",
    world=Part("pc3d.tasks.spread.world", "Spread"),
    about="As many landmarks as agents lie in a plane. The team should cover them all, and nobody "
    "should bump into another.",
    rules=SpreadRules,
    paper=read_paper(Path(__file__).with_name("paper.toml")),
    original=Part("pc3d.tasks.spread.original", "OriginalSpread"),
    parity=Part("pc3d.tasks.spread.parity", "CASE"),
    script=Part("pc3d.tasks.spread.script", "cover"),
    replay=Part("pc3d.tasks.spread.replay", "spread_replay"),
    viewer=__name__,
    capabilities=CAPABILITIES,
    mixes=Path(__file__).with_name("mixes.toml"),
)
