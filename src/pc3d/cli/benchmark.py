"""`pc3d benchmark tasks|train|export`: speed on this machine, always as ratios within one run."""

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal

import jax
import tyro
from rich.console import Console
from rich.table import Table

from pc3d.benchmark.side_by_side import measure_scaling
from pc3d.benchmark.tasks import PARALLEL_EPISODES, measure_task
from pc3d.benchmark.training import TrainingSpeed, measure_in_own_process
from pc3d.cli.display import Terminal, table
from pc3d.cli.team_sizes import parse_team_sizes
from pc3d.experiment.methods import method_named
from pc3d.report.paper_numbers import CLOCKED_EPISODES, seconds_per_512, seconds_per_update
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
    case: Literal["paper", "small"] = "paper"
    """The paper's settings, or a small net for three agents (train)."""
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
    console = Terminal()
    console.print(_machine())
    show = {"tasks": _show_tasks, "train": _show_training, "export": _show_export}[command.subject]
    show(console, names, command)
    return 0


def _show_tasks(console: Console, names: list[str], command: Command) -> None:
    sizes, speeds = parse_team_sizes(command.team_sizes), []
    with console.status("measuring"):
        for task in (entry_of(name).task_class for name in names):
            admitted = [size for size in sizes if task.smallest_team <= size <= task.largest_team]
            speeds += [measure_task(task(slots=size), command.repeats, command.seconds) for size in admitted]
    headings = ("task", "agents", "original", *(f"port, {many} parallel" for many in PARALLEL_EPISODES))
    rows = (
        (
            speed.task_name,
            str(speed.team_size),
            f"{speed.original:,.0f}",
            *(f"{port:,.0f} ({port / speed.original:.0f}×)" for port in speed.port),
        )
        for speed in speeds
    )
    console.print(table("Environment steps per second", headings, rows, words=1))
    console.print(
        "Team steps per second: reset, uniformly random actions, step and everyone's observation. "
        "The port plays whole episodes in one compiled call; the original plays one episode at a time, "
        "behind our interface (for Spread at n = 8 that costs it 15 %). "
        f"Median of {command.repeats} measurements of {command.seconds:g} s or more, one thread."
    )


def _show_export(console: Console, names: list[str], command: Command) -> None:
    from pc3d.benchmark.export import measure_step  # needs the extra export

    with console.status("measuring"):
        pairs = product(names, command.methods)
        steps = [measure_step(*pair, command.repeats, command.seconds) for pair in pairs]
    rows = (
        (
            step.task_name,
            step.method,
            f"{step.in_package:.0f} µs",
            f"{step.float32:.0f} µs",
            f"{step.float32_bytes / 1024:.0f} KiB",
            f"{step.int8:.0f} µs",
            f"{step.int8_bytes / 1024:.0f} KiB",
        )
        for step in steps
    )
    headings = ("task", "method", "JAX", "float32", "file", "int8", "file")
    console.print(table("One step of one agent", headings, rows, words=2))
    console.print(
        "One agent, one step, one thread, the paper's networks, called from Python: onnxruntime with float32 "
        "and with int8, and JAX in pc3d. "
        f"The median over the single steps of {command.repeats * command.seconds:g} s."
    )


def _show_training(console: Console, names: list[str], command: Command) -> None:
    if command.case == "small":
        _show_small_case(console, command)
        return
    pairs, speeds = list(product(names, command.methods)), []
    with console.status("measuring") as status:
        for number, (task, method) in enumerate(pairs, 1):
            status.update(f"{task} {method}, {number} of {len(pairs)}")
            speed = measure_in_own_process(task, method, command.repeats)
            speeds.append(speed)
            update, whole = speed.update_seconds * 1000, speed.projected_seconds / 60
            told = f"{task} {method}: {update:,.0f} ms an update, {whole:.1f} min a run"
            console.print(told, highlight=False)  # at once: all of it together takes long
        status.update("two runs side by side")
        scaling = measure_scaling()
    console.print(_table("Learner updates on one core", SPEEDS, speeds))
    console.print(_table("Whole runs on one core", TIMES, speeds))
    console.print(
        f"Two runs on two cores do {scaling.update:.2f} times the work of one; two plain matrix products do "
        f"{scaling.matrix:.2f} times: {scaling.kept:.0%} of that scaling is kept."
    )
    console.print(
        f"Medians of up to {command.repeats}, fewer of what takes long; one thread. Update and GFLOP/s are "
        "of a usual update of the last stage: operations are counted from the networks' shapes (matrix "
        "products alone, for agents that are there alone), and 'useful' is their share of a plain matrix "
        "product's rate within the same minute. The projection weighs every stage by its episodes. "
        f"Paper, on another processor: seconds per update as printed; those for {CLOCKED_EPISODES} episodes "
        "are inferred, 8 updates for the MAPPO family and nothing for IPPO."
    )


def _show_small_case(console: Console, command: Command) -> None:
    with console.status("measuring"):
        speeds = {
            episodes: measure_in_own_process("spread", "ippo", command.repeats, episodes)
            for episodes in SMALL_CASE
        }
    rows = (
        (
            f"{episodes}",
            f"{speed.update_seconds * 1000:,.0f} ms",
            f"{speed.agent_steps:,.0f}",
            f"{speed.matrix_gigaflops:.0f}",
            f"{speed.agent_steps_per_100_gigaflops:,.0f}",
            f"{speed.useful_rate:.0%}",
        )
        for episodes, speed in speeds.items()
    )
    headings = ("episodes", "update", "gradients/s", "GFLOP/s", "gradients/s at 100 GFLOP/s", "useful")
    console.print(table("Small case: Spread, 3 agents, IPPO, dense 128, GRU 128", headings, rows, words=1))
    console.print(
        "4 epochs over whole episodes of 25 steps, one thread, playing included: gradients of single steps "
        "of single agents per second, and at 100 GFLOP/s of the core's matrix rate."
    )


SMALL_CASE = (82, 656)  # episodes in an update
Columns = dict[str, Callable[[TrainingSpeed], str]]  # by heading: how one speed is shown
SPEEDS: Columns = {
    "update": lambda speed: f"{speed.update_seconds * 1000:,.0f} ms",
    "agent-\nsteps/s": lambda speed: f"{speed.agent_steps:,.0f}",
    "GFLOP/s": lambda speed: f"{speed.useful_gigaflops:.0f}/{speed.matrix_gigaflops:.0f}",
    "useful": lambda speed: f"{speed.useful_rate:.0%}",
    "playing": lambda speed: f"{max(0.0, speed.share_of_playing):.0%}",
    "memory": lambda speed: f"{speed.peak_memory_bytes / 2**30:.1f} GiB",
}
TIMES: Columns = {
    "512\nepisodes": lambda speed: f"{speed.seconds_per_512_episodes:.1f} s",
    "paper's\nupdate": lambda speed: _if_known(seconds_per_update(speed.method, speed.task), 2),
    "paper's\n512": lambda speed: _if_known(seconds_per_512(speed.method, speed.task), 0),
    "full\nbudget": lambda speed: f"{speed.projected_seconds / 60:.1f} min",
    "compile,\ncold": lambda speed: f"{speed.cold_compile_seconds:.1f} s",
    "compile,\nwarm": lambda speed: f"{speed.warm_compile_seconds:.1f} s",
}


def _table(title: str, columns: Columns, speeds: list[TrainingSpeed]) -> Table:
    rows = ([speed.task, speed.method, *(show(speed) for show in columns.values())] for speed in speeds)
    return table(title, ("task", "method", *columns), rows, words=2, narrow=True)


def _if_known(seconds: float | None, digits: int) -> str:
    return "–" if seconds is None else f"{seconds:.{digits}f} s"


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
