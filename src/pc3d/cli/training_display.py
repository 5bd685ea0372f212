"""What a person sees while a run trains: a bar, the stage, and how each team size is doing."""

from __future__ import annotations

from collections import deque
from types import TracebackType
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from pc3d.experiment.settings import Experiment

RECENT_LINES = 200
PLAIN_REPORTS = 20  # how many lines a run prints where there is no terminal to redraw


class PatientConsole(Console):
    """A console whose reader may leave: the training behind it goes on."""

    def on_broken_pipe(self) -> None:
        self.quiet = True


class TrainingDisplay:
    """A watcher for `train`: live in a terminal, a few plain lines elsewhere."""

    def __init__(self, title: str, console: Console | None = None) -> None:
        self.title, self.console = title, console or PatientConsole()
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f} episodes"),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
            console=self.console,
        )
        self.bar = self.progress.add_task(title, total=1, speed="")
        self.recent: dict[int, deque[tuple[int, float]]] = {}
        self.line: dict[str, Any] = {}
        self.live = Live(self.progress, console=self.console, refresh_per_second=4)
        self.experiment: Experiment | None = None
        self.next_report = 0

    def __enter__(self) -> TrainingDisplay:
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live.is_started:
            self.live.stop()

    def started(self, experiment: Experiment, episodes: int) -> None:
        self.experiment = experiment
        self.progress.update(self.bar, total=experiment.episodes, completed=episodes)
        if episodes:
            self.console.print(f"{self.title}: continuing after {episodes:,} episodes")

    def played(self, episodes: int) -> None:
        speed = self.progress.tasks[0].speed
        self.progress.update(
            self.bar, completed=episodes, speed=f"{speed:,.0f} episodes/s" if speed else "compiling"
        )

    def logged(self, line: dict[str, Any]) -> None:
        self.line = line
        for size, (count, mean) in line["return_by_size"].items():
            self.recent.setdefault(int(size), deque(maxlen=RECENT_LINES)).append((count, mean))
        if self.live.is_started:
            self.live.update(Group(self.progress, self.table()))
        elif self.experiment and line["episodes"] >= self.next_report:
            self.next_report = line["episodes"] + self.experiment.episodes / PLAIN_REPORTS
            self.console.print(self.plain_report(), soft_wrap=True)

    def table(self) -> Table:
        """The stage, recent returns by team size, and what the learner says of itself."""
        table = Table.grid(padding=(0, 2))
        sizes = sorted(self.recent)
        table.add_row("stage", self.stage())
        table.add_row("recent return", "   ".join(f"{size}: {self.mean(size):.2f}" for size in sizes))
        table.add_row("learner", self.learner())
        return table

    def plain_report(self) -> str:
        returns = ", ".join(f"{size}: {self.mean(size):.2f}" for size in sorted(self.recent))
        episodes = self.line["episodes"]
        return (
            f"{self.title}: {episodes:,} episodes, stage {self.stage()}; "
            f"recent returns by size {returns}; {self.learner()}"
        )

    def stage(self) -> str:
        assert self.experiment is not None
        number = self.line["stage"]
        sizes = self.experiment.curriculum.stages[number - 1].team_sizes
        return (
            f"{number} of {len(self.experiment.curriculum.stages)}, team sizes {', '.join(map(str, sizes))}"
        )

    def learner(self) -> str:
        assert self.experiment is not None
        told = self.experiment.algorithm.headlines.items()
        return ", ".join(f"{said} {self.line[name]:.3f}" for name, said in told)

    def mean(self, size: int) -> float:
        """Over the last logged updates that played this size."""
        count = sum(count for count, _ in self.recent[size])
        return sum(count * mean for count, mean in self.recent[size]) / count
