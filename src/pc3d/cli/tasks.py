"""`pc3d tasks`: everything one needs to know before choosing a task."""

from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from pc3d.experiment.rosters import Curriculum, Rosters
from pc3d.tasks.entry import Paper
from pc3d.tasks.registry import entry_of, papers
from pc3d.tasks.task import AnyTask


@dataclass(frozen=True)
class Command:
    """Nothing to choose."""


def run(command: Command) -> int:
    del command
    console = Console()
    for name, paper in papers().items():
        entry = entry_of(name)
        console.print(_described(name, entry.make(entry.task_class.largest_team), paper))
    return 0


def _described(name: str, task: AnyTask, paper: Paper) -> Table:
    table = Table(title=name, title_justify="left", title_style="bold", show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    table.add_row("team sizes", f"{task.smallest_team} to {task.largest_team}")
    for split, sizes in _splits(paper.rosters):
        table.add_row(split, sizes)
    table.add_row("curriculum", _curriculum(paper.curriculum))
    table.add_row("steps per episode", f"{task.horizon} at most")
    table.add_row("actions", ", ".join(f"{index} {action}" for index, action in enumerate(task.action_names)))
    table.add_row(f"observation ({task.observation_width})", _layout(task))
    table.add_row("return", task.return_definition)
    table.add_row("measures", ", ".join(task.measure_names))
    return table


def _splits(rosters: Rosters) -> list[tuple[str, str]]:
    splits = {"train": rosters.train, "validation": rosters.validation, "test": rosters.test}
    return [(split, ", ".join(map(str, sizes))) for split, sizes in splits.items()]


def _curriculum(curriculum: Curriculum) -> str:
    """One line per stage: its share of the episodes, and how likely each size is."""
    lines = []
    for stage in curriculum.stages:
        sizes = zip(stage.team_sizes, stage.probabilities, strict=True)
        chances = ", ".join(f"{size} ({chance:.0%})" for size, chance in sizes)
        lines.append(f"{stage.fraction:.0%} of the episodes: {chances}")
    return "\n".join(lines)


def _layout(task: AnyTask) -> str:
    """One line per part: the indices it takes, and what it means."""
    lines, start = [], 0
    for part in task.observation_layout:
        end = start + part.width
        lines.append(f"{start}:{end}  {part.name}")
        start = end
    return "\n".join(lines)
