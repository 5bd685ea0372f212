"""A task in a folder of its own, known by one line: its world, its title, and the settings it starts from."""

from pathlib import Path

from pc3d.tasks.entry import Part, TaskEntry, read_paper

ENTRY = TaskEntry(
    title="Probe",
    world=Part("tests.seams.probe_task.world", "NamedProbe"),
    paper=read_paper(Path(__file__).with_name("paper.toml")),
)
