"""`pc3d benchmark export`: microseconds one agent takes for one step, and the size of its file."""

from rich.console import Console
from rich.table import Table

from pc3d.benchmark.export import StepTime, measure_step


def show_export(
    console: Console, names: list[str], methods: tuple[str, ...], repeats: int, seconds: float
) -> None:
    """Measure and print."""
    with console.status("measuring"):
        times = [measure_step(name, method, repeats, seconds) for name in names for method in methods]
    console.print(_table(times))
    console.print(
        "One agent, one step, one thread, the paper's networks, called from Python: onnxruntime with float32 "
        f"and with int8, and JAX in pc3d. The median over the single steps of {repeats * seconds:g} s."
    )


def _table(times: list[StepTime]) -> Table:
    table = Table(title="One step of one agent", title_justify="left")
    for heading in ("task", "method"):
        table.add_column(heading)
    for heading in ("JAX", "float32", "file", "int8", "file"):
        table.add_column(heading, justify="right")
    for step in times:
        table.add_row(
            step.task_name,
            step.method,
            f"{step.in_package:.0f} µs",
            f"{step.float32:.0f} µs",
            f"{step.float32_bytes / 1024:.0f} KiB",
            f"{step.int8:.0f} µs",
            f"{step.int8_bytes / 1024:.0f} KiB",
        )
    return table
