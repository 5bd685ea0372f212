"""Level-based foraging: all that pc3d has of it."""

from pc3d.tasks.entry import Part, TaskEntry
from pc3d.tasks.foraging.paper import PAPER

ENTRY = TaskEntry(
    title="LBF",
    world=Part("pc3d.tasks.foraging.world", "Foraging"),
    scale=100.0,  # the paper's tables do so for readability
    paper=PAPER,
    original=Part("pc3d.tasks.foraging.original", "OriginalForaging"),
    parity=Part("pc3d.tasks.foraging.parity", "CASE"),
    script=Part("pc3d.tasks.foraging.script", "gather"),
    replay=Part("pc3d.tasks.foraging.replay", "foraging_replay"),
    viewer=__name__,
)
