"""A task in a folder of its own, known by one line: its world, its title, and the settings it starts from."""

from dataclasses import replace

from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.experiment.settings import ActorSettings, CriticSettings
from pc3d.tasks.entry import Paper, Part, TaskEntry
from pc3d.tasks.spread.paper import MAPPO, PAPER

ENTRY = TaskEntry(
    title="Probe",
    world=Part("tests.seams.probe_task.world", "NamedProbe"),
    paper=Paper(
        rosters=Rosters(train=(1, 2), test=(3,)),
        curriculum=Curriculum((Stage(1.0, (1, 2), (0.5, 0.5)),)),
        episodes=32,
        printed={
            "mappo": replace(
                MAPPO,
                actor=ActorSettings((8,), 8),
                critic=CriticSettings((8,), 4, (8,), tokens=2),
                algorithm=replace(MAPPO.algorithm, update_every_episodes=4),
            )
        },
        recipe=replace(PAPER.recipe, environments=1),
    ),
)
