"""Level-based foraging: all that pc3d has of it."""

from pathlib import Path

from pc3d.tasks.entry import Part, TaskEntry, read_paper
from pc3d.tasks.foraging.rules import CAPABILITIES, ForagingRules

ENTRY = TaskEntry(
    title="LBF",
    world=Part("pc3d.tasks.foraging.world", "Foraging"),
    about="Level-based foraging: food lies on a grid, too heavy for one agent. Enough of them must stand "
    "beside it and lift it together.",
    rules=ForagingRules,
    scale=100.0,  # the paper's tables do so for readability
    paper=read_paper(Path(__file__).with_name("paper.toml")),
    original=Part("pc3d.tasks.foraging.original", "OriginalForaging"),
    parity=Part("pc3d.tasks.foraging.parity", "CASE"),
    script=Part("pc3d.tasks.foraging.script", "gather"),
    replay=Part("pc3d.tasks.foraging.replay", "foraging_replay"),
    viewer=__name__,
    capabilities=CAPABILITIES,
    mixes=Path(__file__).with_name("mixes.toml"),
)
