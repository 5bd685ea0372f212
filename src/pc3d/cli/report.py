"""`pc3d report RUNS... --out DIR`: every table and figure of the paper, made from the runs given."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table as TerminalTable
from rich.text import Text

from pc3d.cli import evaluate
from pc3d.cli.display import Terminal
from pc3d.cli.display import table as terminal_table
from pc3d.report.check import check_shown
from pc3d.report.notes import notes
from pc3d.report.runs import Runs, find_runs
from pc3d.report.tables.results import MAIN_RESULTS, result_table
from pc3d.report.tables.table import Table
from pc3d.report.write import write_report
from pc3d.system.errors import BadInput


@dataclass(frozen=True)
class Command:
    runs: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Folders that hold runs, at any depth, and references.csv files beside them."""
    out: Path = Path("report")
    """Where the report goes."""
    evaluate: bool = False
    """First evaluate the finished runs that have no scores yet."""


def run(command: Command) -> int:
    if not command.runs:
        raise BadInput("usage: pc3d report RUNS... --out DIR; RUNS are folders that hold runs")
    runs = find_runs(command.runs, check=check_shown)
    if command.evaluate and _evaluate_missing(runs):
        runs = find_runs(command.runs, check=check_shown)
    console = Terminal()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:  # none in a log
        step = bar.add_task("reading the runs", total=None)
        page = write_report(runs, command.out, lambda name: bar.update(step, description=name))
    for task in runs.tasks:
        if table := result_table(MAIN_RESULTS, runs, task):
            console.print(_for_terminal(table))
    for note in notes(runs):
        console.print(f"note: {note}", soft_wrap=True, highlight=False)
    print(f"tables, figures and report.md: {command.out}\npage: {page}")
    return 0


def _evaluate_missing(runs: Runs) -> bool:
    """Score the finished runs that are not scored at every team size, and say whether there were any."""
    missing = tuple(run.folder.path for run in runs.given if run.folder.done and not run.complete)
    if missing:
        evaluate.run(evaluate.Command(runs=missing))
    return bool(missing)


def _for_terminal(table: Table) -> TerminalTable:
    """One task's table, with the paper's number under ours."""
    rows = (
        [Text(f"{cell.text}\n{cell.note}".strip(), "bold" if cell.best else "") for cell in row]
        for row in table.rows
    )
    return terminal_table(table.title, table.columns, rows, words=1, narrow=True)
