"""`pc3d benchmark`: speed on this machine."""

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import jax
import tyro
from rich.console import Console
from rich.table import Table

from pc3d.benchmark.tasks import PARALLEL_EPISODES, TaskSpeed, measure
from pc3d.cli.team_sizes import parse_team_sizes
from pc3d.errors import BadInput
from pc3d.tasks import TASKS, task_class


@dataclass(frozen=True)
class Command:
    subject: tyro.conf.Positional[Literal["tasks"]] = "tasks"
    """What to measure."""
    task: str | None = None
    """Only this task."""
    team_sizes: str = "2,4,8,10"
    """Sizes that a task does not admit are passed over."""
    repeats: int = 5
    """The median of this many measurements is shown."""
    seconds: float = 0.3
    """The least time of one measurement."""


def run(command: Command) -> int:
    names = list(TASKS) if command.task is None else [command.task]
    if command.repeats < 1 or command.seconds <= 0:
        raise BadInput("a benchmark needs at least 1 repeat and a time above 0 seconds")
    sizes = parse_team_sizes(command.team_sizes)
    console = Console()
    console.print(_machine())
    with console.status("measuring"):
        table = _table(_measured(names, sizes, command))
    console.print(table)
    console.print(
        "Team steps per second: reset, uniformly random actions, step and everyone's observation. "
        "The port plays whole episodes in one compiled call; the original plays one episode at a time. "
        f"Median of {command.repeats} measurements of {command.seconds:g} s or more, one thread."
    )
    return 0


def _measured(names: list[str], sizes: tuple[int, ...], command: Command) -> Iterable[TaskSpeed]:
    for name in names:
        task = task_class(name)
        for size in sizes:
            if task.smallest_team <= size <= task.largest_team:
                yield measure(task(slots=size), command.repeats, command.seconds)


def _table(speeds: Iterable[TaskSpeed]) -> Table:
    table = Table(title="Environment steps per second", title_justify="left")
    table.add_column("task")
    for heading in ("agents", "original", *(f"port, {many} parallel" for many in PARALLEL_EPISODES)):
        table.add_column(heading, justify="right")
    for speed in speeds:
        ports = (f"{speed.port[many]:,.0f} ({speed.speedup(many):.0f}×)" for many in PARALLEL_EPISODES)
        table.add_row(speed.task_name, str(speed.team_size), f"{speed.original:,.0f}", *ports)
    return table


def _machine() -> str:
    """What the numbers were measured on."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return (
        f"{_processor()}, {os.cpu_count()} cores (load {load}), {platform.system()}, "
        f"Python {platform.python_version()}, jax {jax.__version__} on {jax.default_backend()}"
    )


def _processor() -> str:
    """The processor's name, which only Linux gives in full."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
