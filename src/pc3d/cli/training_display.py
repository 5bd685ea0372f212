"""What a person sees while a run trains: a bar, the stage, and how each team size is doing."""

from collections import deque
from typing import Any

import numpy as np
from rich.console import Group
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from pc3d.cli.display import LiveDisplay, Terminal
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.methods import method_named
from pc3d.runs.flat_line import TABLE, with_table
from pc3d.runs.watcher import Watcher

RECENT = 0.1  # of what was played
RECENT_LINES = 200  # at most
OF_CONTEXTS = ("loss_distillation", "gate")  # zeros where there are none
PLAIN_REPORTS = 20  # how many lines a run prints where there is no terminal to redraw


class PatientConsole(Terminal):
    """A console whose reader may leave: the training behind it goes on."""

    def on_broken_pipe(self) -> None:
        self.quiet = True


class TrainingDisplay(LiveDisplay, Watcher):
    """A watcher for `train`: live in a terminal, a few plain lines elsewhere."""

    def __init__(self, title: str) -> None:
        super().__init__(PatientConsole())
        self.title = title
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f} episodes"),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
            console=self.console,
        )
        self.bar = self.progress.add_task(title, total=1, speed="")
        self.recent: dict[int, deque[tuple[int, int, float]]] = {}
        self.line: dict[str, Any] = {}
        self.experiment: Experiment  # known once the run has started
        self.next_report = 0
        self.began = False

    def started(self, experiment: Experiment, episodes: int) -> None:
        self.experiment, self.began = experiment, True
        self.progress.update(self.bar, total=experiment.episodes, completed=episodes)
        self.live.update(self.progress)
        if episodes:
            self.console.print(f"{self.title}: continuing after {episodes:,} episodes")

    def played(self, episodes: int) -> None:
        speed = self.progress.tasks[0].speed
        self.progress.update(
            self.bar, completed=episodes, speed=f"{speed:,.0f} episodes/s" if speed else "compiling"
        )

    def logged(self, line: dict[str, Any]) -> None:
        self.line = line
        for size, (count, mean) in with_table(line)[TABLE].items():
            recent = self.recent.setdefault(int(size), deque(maxlen=RECENT_LINES))
            recent.append((line["episodes"], count, mean))
            while recent[0][0] <= (1 - RECENT) * line["episodes"]:
                recent.popleft()
        if self.live.is_started:
            self.live.update(self.picture())
        elif line["episodes"] >= self.next_report:
            self.next_report = line["episodes"] + self.experiment.episodes / PLAIN_REPORTS
            self.console.print(
                f"{self.title}: {line['episodes']:,} episodes, stage {self.stage()}; "
                f"recent returns by size {self.returns(', ')}; {'; '.join(self.headlines().values())}",
                soft_wrap=True,
            )

    def picture(self) -> Group:
        """The bar, the stage, recent returns by team size, and what the learner says of itself."""
        table = Table.grid(padding=(0, 2))
        table.add_row("stage", self.stage())
        table.add_row("recent return", self.returns("   "))
        for name, numbers in self.headlines().items():
            table.add_row(name, numbers)
        return Group(self.progress, table)

    def stage(self) -> str:
        number, stages = self.line["stage"], self.experiment.curriculum.stages
        sizes = ", ".join(map(str, stages[number - 1].team_sizes))
        return f"{number} of {len(stages)}, team sizes {sizes}"

    def headlines(self) -> dict[str, str]:
        """What the learner says of itself, by line; of contexts only where the method has some."""
        has_context = method_named(self.experiment.method).has_context
        shown = {name: value for name, value in self.line.items() if has_context or name not in OF_CONTEXTS}
        lines = {
            line: [f"{said} {shown[name]:.3f}" for name, said in told.items() if name in shown]
            for line, told in self.experiment.algorithm.headlines.items()
        }
        return {line: ", ".join(numbers) for line, numbers in lines.items() if numbers}

    def warned(self, sentence: str) -> None:
        self.console.print(f"{self.title}: {sentence}", style="yellow", soft_wrap=True)

    def returns(self, apart: str) -> str:
        """The mean of each size over the last tenth of what was played when it was met last."""
        by_size = {size: np.array(lines).T for size, lines in sorted(self.recent.items())}
        means = {size: np.average(returns, weights=counts) for size, (_, counts, returns) in by_size.items()}
        return apart.join(f"{size}: {mean:.2f}" for size, mean in means.items())
