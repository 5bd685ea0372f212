"""`pc3d benchmark SUBJECT`: speed on this machine, always as ratios within one run."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import jax
import tyro
from rich.console import Console

from pc3d.cli.benchmark_tables import (
    show_churn,
    show_export,
    show_growth,
    show_peers,
    show_small_case,
    show_tasks,
    show_training,
)
from pc3d.cli.display import Terminal
from pc3d.cli.in_help import Folder, Names, Sizes, TaskName
from pc3d.cli.team_sizes import parse_team_sizes
from pc3d.experiment.methods import method_named
from pc3d.system.bounds import within
from pc3d.tasks.registry import TASKS, entry_of


@dataclass(frozen=True)
class Command:
    subject: tyro.conf.Positional[Literal["tasks", "train", "growth", "churn", "peers", "export"]] = "tasks"
    """The worlds next to the originals, training (also of larger and changing teams), or a policy's step."""
    task: TaskName = None
    """Only this task."""
    methods: Names = ("ippo", "mappo", "pic", "pc3d")
    """Which methods (train, churn, export)."""
    case: Literal["paper", "small"] = "paper"
    """The paper's settings, or a small net for three agents (train)."""
    team_sizes: Sizes = None
    """2,4,8,10 if not given, or 8,16,32,64,128 (growth); sizes that a task does not admit are passed over."""
    peers_python: Path = Path(".venv-peers/bin/python")
    """The Python that has the peers: `make peers` sets it up (peers)."""
    repeats: int = 5
    """The median of this many measurements is shown."""
    seconds: float = 0.3
    """The least time of one measurement (tasks, export)."""
    out: Folder = None
    """A folder for the figure (growth)."""


def run(command: Command) -> int:
    names = list(TASKS) if command.task is None else [command.task]
    for name in names:
        entry_of(name)
    for method in command.methods:
        method_named(method)
    within("repeats", command.repeats, 1, 10**6)
    within("seconds", command.seconds, 0, 10**6, above=True)
    console = Terminal()
    console.print(_machine())
    _show(console, names, command)
    return 0


def _show(console: Console, names: list[str], command: Command) -> None:
    methods, repeats, seconds = command.methods, command.repeats, command.seconds
    match command.subject:
        case "tasks":
            show_tasks(console, names, parse_team_sizes(command.team_sizes or "2,4,8,10"), repeats, seconds)
        case "train" if command.case == "small":
            show_small_case(console, repeats)
        case "train":
            show_training(console, names, methods, repeats)
        case "growth":
            sizes = parse_team_sizes(command.team_sizes or "8,16,32,64,128")
            show_growth(console, names, sizes, repeats, command.out)
        case "churn":
            show_churn(console, names, methods, repeats)
        case "peers":
            show_peers(console, command.peers_python, repeats)
        case "export":
            show_export(console, names, methods, repeats, seconds)


def _machine() -> str:
    """What the numbers were measured on; only Linux gives the processor's name in full."""
    processor = platform.processor() or platform.machine()
    if (information := Path("/proc/cpuinfo")).exists():
        lines = information.read_text().splitlines()
        named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        processor = (*named, processor)[0]
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return (
        f"{processor}, {os.cpu_count()} cores (load {load}), {platform.system()}, "
        f"Python {platform.python_version()}, jax {jax.__version__} on {jax.default_backend()}"
    )
