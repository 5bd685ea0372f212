"""`pc3d tasks`: everything one needs to know before choosing a task."""

from itertools import accumulate

from pc3d.cli.display import Terminal, facts
from pc3d.experiment.rosters import Curriculum
from pc3d.tasks.entry import Paper
from pc3d.tasks.registry import entry_of, papers
from pc3d.tasks.task import AnyTask


def run() -> int:
    console = Terminal()
    for name, paper in papers().items():
        entry = entry_of(name)
        console.print(facts(name, _facts(entry.make(entry.task_class.largest_team), paper)))
    return 0


def _facts(task: AnyTask, paper: Paper) -> list[tuple[str, str]]:
    rosters = paper.rosters
    return [
        ("team sizes", f"{task.smallest_team} to {task.largest_team}; there is room for {task.most_agents}"),
        ("train", ", ".join(map(str, rosters.train))),
        ("validation", ", ".join(map(str, rosters.validation))),
        ("test", ", ".join(map(str, rosters.test))),
        ("curriculum", _curriculum(paper.curriculum)),
        ("steps per episode", f"{task.horizon} at most"),
        ("actions", ", ".join(f"{index} {action}" for index, action in enumerate(task.action_space.names))),
        (f"observation ({task.observation_width})", _layout(task)),
        ("return", task.return_definition),
        ("measures", ", ".join(task.measure_names)),
    ]


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
    parts = task.layout
    ends = accumulate(part.width for part in parts)
    return "\n".join(f"{end - part.width}:{end}  {part.name}" for part, end in zip(parts, ends, strict=True))
