"""`pc3d benchmark tasks`: environment steps per second, next to the originals."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from pc3d.benchmark.tasks import PARALLEL_EPISODES, TaskSpeed, measure
from pc3d.tasks.registry import entry_of


def show_tasks(
    console: Console, names: list[str], sizes: tuple[int, ...], repeats: int, seconds: float
) -> None:
    """Measure and print; sizes that a task does not admit are passed over."""
    with console.status("measuring"):
        table = _table(_measured(names, sizes, repeats, seconds))
    console.print(table)
    console.print(
        "Team steps per second: reset, uniformly random actions, step and everyone's observation. "
        "The port plays whole episodes in one compiled call; the original plays one episode at a time, "
        "behind our interface (for Spread at n = 8 that costs it 15 %). "
        f"Median of {repeats} measurements of {seconds:g} s or more, one thread."
    )


def _measured(names: list[str], sizes: tuple[int, ...], repeats: int, seconds: float) -> Iterable[TaskSpeed]:
    for name in names:
        task = entry_of(name).task_class
        for size in sizes:
            if task.smallest_team <= size <= task.largest_team:
                yield measure(task(slots=size), repeats, seconds)


def _table(speeds: Iterable[TaskSpeed]) -> Table:
    table = Table(title="Environment steps per second", title_justify="left")
    table.add_column("task")
    for heading in ("agents", "original", *(f"port, {many} parallel" for many in PARALLEL_EPISODES)):
        table.add_column(heading, justify="right")
    for speed in speeds:
        ports = (f"{speed.port[many]:,.0f} ({speed.speedup(many):.0f}×)" for many in PARALLEL_EPISODES)
        table.add_row(speed.task_name, str(speed.team_size), f"{speed.original:,.0f}", *ports)
    return table
