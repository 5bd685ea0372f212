"""`pc3d benchmark tasks|train|export`: speed on this machine, always as ratios within one run."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import jax
import tyro
from rich.console import Console

from pc3d.cli.benchmark_tasks import show_tasks
from pc3d.cli.benchmark_train import show_training
from pc3d.cli.team_sizes import parse_team_sizes
from pc3d.experiment.methods import method_named
from pc3d.system.errors import BadInput
from pc3d.tasks.registry import TASKS, entry_of


@dataclass(frozen=True)
class Command:
    subject: tyro.conf.Positional[Literal["tasks", "train", "export"]] = "tasks"
    """What to measure: the worlds next to the originals, training, or an exported policy's step."""
    task: str | None = None
    """Only this task."""
    methods: tuple[str, ...] = ("ippo", "mappo", "pic", "pc3d")
    """Which methods (train, export)."""
    team_sizes: str = "2,4,8,10"
    """Sizes that a task does not admit are passed over (tasks)."""
    repeats: int = 5
    """The median of this many measurements is shown."""
    seconds: float = 0.3
    """The least time of one measurement (tasks, export)."""


def run(command: Command) -> int:
    names = list(TASKS) if command.task is None else [command.task]
    for name in names:
        entry_of(name)
    for method in command.methods:
        method_named(method)
    if command.repeats < 1 or command.seconds <= 0:
        raise BadInput("a benchmark needs at least 1 repeat and a time above 0 seconds")
    console = Console()
    console.print(_machine())
    if command.subject == "tasks":
        sizes = parse_team_sizes(command.team_sizes)
        show_tasks(console, names, sizes, command.repeats, command.seconds)
    elif command.subject == "export":
        from pc3d.cli.benchmark_export import show_export  # needs the extra export

        show_export(console, names, command.methods, command.repeats, command.seconds)
    else:
        show_training(console, names, command.methods, command.repeats)
    return 0


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
