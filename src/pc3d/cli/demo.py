"""`pc3d demo`: PC3D and MAPPO learn Spread side by side, then meet team sizes they have never seen."""

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from pc3d.cli.display import LinesNowAndThen, Terminal
from pc3d.cli.score_tables import returns_table
from pc3d.jobs.local import ThisMachine
from pc3d.jobs.loop import Progress as JobProgress
from pc3d.jobs.loop import State, run_jobs
from pc3d.jobs.study import Group, Job, Study
from pc3d.report.scores import read_scores
from pc3d.runs.line_contract import newest_metrics
from pc3d.system.errors import BadInput, Pc3dError
from pc3d.system.processes import run_command
from pc3d.tasks.registry import paper_of

METHODS = ("mappo", "pc3d")
TASK = "spread"


@dataclass(frozen=True)
class Command:
    folder: Path = Path("demo")
    """Where the two runs and their report go."""
    episodes: int = 2000
    """Training episodes of each run: a tenth of the paper's."""
    rollouts: int = 100
    """Evaluation episodes for each team size."""
    seed: int = 0
    """Decides every random draw."""


def run(command: Command) -> int:
    if command.episodes < 1 or command.rollouts < 1:
        raise BadInput("a demo needs at least 1 episode and 1 rollout")
    console = Terminal()
    console.print(_introduction(command))
    group = Group((TASK,), METHODS, (command.seed,), episodes=command.episodes)
    jobs = Study("the demo", (group,), command.rollouts).jobs(command.folder / "runs")
    with Bars(console, command.episodes) as bars:
        ended = run_jobs(jobs, ThisMachine(len(jobs)), bars.show)
    for one in ended:
        if one.state is State.FAILED:
            raise Pc3dError(f"{one.job.name} failed: {one.error}")
    _show_returns(console, jobs)
    run_command(["report", str(command.folder / "runs"), "--out", str(command.folder / "report")])
    page = command.folder / "report" / "index.html"
    console.print(f"Open {page} to watch the teams play.", style="bold", soft_wrap=True, highlight=False)
    return 0


def _show_returns(console: Console, jobs: list[Job]) -> None:
    """At seen and at unseen team sizes, one method beside the other."""
    scored = {job.method: read_scores(job.folder / "scores.csv")[0].returns for job in jobs}
    console.print(returns_table(scored, paper_of(TASK).rosters))


def _introduction(command: Command) -> str:
    rosters = paper_of(TASK).rosters
    return (
        f"Two teams learn to cover landmarks without collisions, {command.episodes:,} episodes each, "
        f"with {', '.join(map(str, rosters.train))} agents. Then they play with "
        f"{', '.join(map(str, rosters.validation + rosters.test))} agents, sizes they have never met."
    )


class Bars(Progress):
    """A bar for each run, with how its teams are doing."""

    def __init__(self, console: Console, episodes: int) -> None:
        state = TextColumn("{task.fields[state]}")
        super().__init__(
            TextColumn("{task.description}"), BarColumn(), state, TimeElapsedColumn(), console=console
        )
        self.lines = LinesNowAndThen(console)
        self.bars = {name: self.add_task(name, total=episodes, state="compiling") for name in METHODS}

    def show(self, jobs: list[JobProgress]) -> None:
        for one in jobs:
            line = newest_metrics(one.job.folder / "metrics.jsonl")
            if line is None:
                continue
            returns = ", ".join(f"{size}: {mean:.0f}" for size, (_, mean) in line["return_by_size"].items())
            learning = f"stage {line['stage']}, returns by team size {returns}"
            state = learning if one.state is State.TRAINING else one.state.value
            self.update(self.bars[one.job.method], completed=line["episodes"], state=state)
        self.lines.tell(self.told)

    def told(self) -> str:
        """How far both are, in a line."""
        return "; ".join(
            f"{task.description} {task.completed:,.0f} of {task.total:,.0f} episodes, {task.fields['state']}"
            for task in self.tasks
        )
