"""`pc3d benchmark train`: what an update costs, how near it is to the machine's limit, the paper's times."""

import json
import subprocess

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from pc3d.benchmark.side_by_side import measure_scaling
from pc3d.benchmark.training import TrainingSpeed
from pc3d.report.paper_numbers import CLOCKED_EPISODES, seconds_per_512, seconds_per_update
from pc3d.system.errors import Pc3dError
from pc3d.system.processes import PYTHON


def show_training(console: Console, tasks: list[str], methods: tuple[str, ...], repeats: int) -> None:
    """Measure each pair in a process of its own, then two processes side by side."""
    speeds = []
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task("measuring", total=len(tasks) * len(methods) + 1)
        for task in tasks:
            for method in methods:
                progress.update(bar, description=f"{task} {method}")
                speeds.append(_in_own_process(task, method, repeats))
                progress.advance(bar)
                console.print(_sentence(speeds[-1]), highlight=False)
        progress.update(bar, description="two runs side by side")
        scaling = measure_scaling()
    console.print(_speed_table(speeds))
    console.print(_time_table(speeds))
    console.print(
        f"Two runs on two cores do {scaling.update:.2f} times the work of one; two plain matrix products do "
        f"{scaling.matrix:.2f} times: {scaling.kept:.0%} of that scaling is kept."
    )
    console.print(
        f"Medians of up to {repeats}, fewer of what takes long; one thread. Update and GFLOP/s are of the "
        "last stage, every slot filled: operations are counted from the networks' shapes (matrix products "
        "only, padding included; 'useful' is the mean share of slots that the curriculum fills). The "
        "projection weighs every stage by its episodes. "
        f"Paper, on another processor: seconds per update as printed; those for {CLOCKED_EPISODES} episodes "
        "are inferred, 8 updates for the MAPPO family and nothing for IPPO."
    )


def _in_own_process(task: str, method: str, repeats: int) -> TrainingSpeed:
    """Peak memory and compile time are a process's own."""
    words = [*PYTHON, "-m", "pc3d.benchmark.training", task, method, str(repeats)]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        said = result.stderr.strip().splitlines()[-1:] or [f"ended with code {result.returncode}"]
        raise Pc3dError(f"measuring {task} {method} failed: {said[0]}")
    return TrainingSpeed.of(json.loads(result.stdout))


def _sentence(speed: TrainingSpeed) -> str:
    """Said at once: all of it together takes long."""
    update, run = speed.stages[-1].update_seconds, speed.projected_seconds / 60
    return f"{speed.task} {speed.method}: {update * 1000:,.0f} ms an update, {run:.1f} min a run"


def _speed_table(speeds: list[TrainingSpeed]) -> Table:
    table = Table(title="Learner updates on one core", title_justify="left")
    for heading in ("task", "method"):
        table.add_column(heading)
    for heading in ("update", "agent-steps/s", "GFLOP/s", "of matmul", "useful", "playing", "memory"):
        table.add_column(heading, justify="right", no_wrap=True)
    for speed in speeds:
        last = speed.stages[-1]
        table.add_row(
            speed.task,
            speed.method,
            f"{last.update_seconds * 1000:,.0f} ms",
            f"{speed.learning.agent_steps:,.0f}",
            f"{speed.learning.gigaflops:.0f}/{speed.matrix_gigaflops:.0f}",
            f"{speed.share_of_matrix_rate:.0%}",
            f"{last.useful_share:.0%}",
            f"{max(0.0, speed.share_of_playing):.0%}",
            f"{speed.peak_memory_bytes / 2**30:.1f} GiB",
        )
    return table


def _time_table(speeds: list[TrainingSpeed]) -> Table:
    table = Table(title="Whole runs on one core", title_justify="left")
    for heading in ("task", "method"):
        table.add_column(heading)
    for heading in (
        "512 episodes",
        "paper's update",
        "paper's 512",
        "full budget",
        "compile, cold",
        "compile, warm",
    ):
        table.add_column(heading, justify="right")
    for speed in speeds:
        per_update = seconds_per_update(speed.method, speed.task)
        per_512 = seconds_per_512(speed.method, speed.task)
        table.add_row(
            speed.task,
            speed.method,
            f"{speed.seconds_per_512_episodes:.1f} s",
            "–" if per_update is None else f"{per_update:.2f} s",
            "–" if per_512 is None else f"{per_512:.0f} s",
            f"{speed.projected_seconds / 60:.1f} min",
            f"{speed.cold_compile_seconds:.1f} s",
            f"{speed.warm_compile_seconds:.1f} s",
        )
    return table
