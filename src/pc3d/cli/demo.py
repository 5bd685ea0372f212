"""`pc3d demo`: PC3D and MAPPO learn Spread side by side, then meet team sizes they have never seen."""

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from pc3d.runs.metrics import last_line
from pc3d.system.errors import BadInput, Pc3dError
from pc3d.system.processes import last_words, run_command, start_worker
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
    console = Console()
    console.print(_introduction(command))
    folders = {method: command.folder / "runs" / TASK / method for method in METHODS}
    _train_side_by_side(console, command, folders)
    run_command(["evaluate", *map(str, folders.values()), "--rollouts", str(command.rollouts)])
    run_command(["report", *map(str, folders.values()), "--out", str(command.folder / "report")])
    console.print(f"[bold]Open {command.folder / 'report' / 'index.html'}[/bold] to watch the teams play.")
    return 0


def _introduction(command: Command) -> str:
    rosters = paper_of(TASK).rosters
    return (
        f"Two teams learn to cover landmarks without collisions, {command.episodes:,} episodes each, "
        f"with {', '.join(map(str, rosters.train))} agents. Then they play with "
        f"{', '.join(map(str, rosters.validation + rosters.test))} agents, sizes they have never met."
    )


def _train_side_by_side(console: Console, command: Command, folders: dict[str, Path]) -> None:
    """One process a run, as always; here two of them, with a bar each."""
    workers = {method: _start(command, method, folder) for method, folder in folders.items()}
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
    )
    try:
        with Progress(*columns, console=console) as progress:
            bars = {
                method: progress.add_task(method, total=command.episodes, state="compiling")
                for method in METHODS
            }
            while any(worker.poll() is None for worker in workers.values()):
                for method, folder in folders.items():
                    _show(progress, bars[method], folder)
                time.sleep(0.5)
            for method, folder in folders.items():
                _show(progress, bars[method], folder)
    finally:
        for worker in workers.values():
            worker.terminate()
    for method, worker in workers.items():
        code = worker.wait()
        if code != 0:
            raise Pc3dError(f"training {method} failed: {last_words(_errors(folders[method]), code)}")


def _start(command: Command, method: str, folder: Path) -> "subprocess.Popen[bytes]":
    words = ["train", TASK, method, "--folder", str(folder), "--seed", str(command.seed)]
    return start_worker([*words, "--episodes", str(command.episodes)], _errors(folder))


def _errors(folder: Path) -> Path:
    return folder / "errors.log"


def _show(progress: Progress, bar: Any, folder: Path) -> None:
    line = last_line(folder / "metrics.jsonl")
    if line:
        returns = ", ".join(f"{size}: {mean:.0f}" for size, (_, mean) in line["return_by_size"].items())
        state = f"stage {line['stage']}, returns by team size {returns}"
        progress.update(bar, completed=line["episodes"], state=state)
