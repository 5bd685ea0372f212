"""Teams that change, by what the policies that play in them were trained with."""

from collections.abc import Iterator

from pc3d.report.changes import changes_of
from pc3d.report.names import heading, method_title, task_title
from pc3d.report.runs import Runs
from pc3d.report.tables.changing_teams import change_cells
from pc3d.report.tables.table import Row, Table, make_table
from pc3d.report.tables.trials import Trial, by_trial, complete_trials, unless_said

COLUMNS = ("Policy", "trained with", "episodes", "roster", "agents", "return", "cost of churn")


def changing_trials_tables(runs: Runs) -> list[Table | None]:
    """A table for each task with such policies."""
    tried = complete_trials(runs)
    return [_table(tried, task) for task in tried.tasks]


def _table(tried: Runs, task: str) -> Table | None:
    """One row for each method, training and process."""
    methods = [(method, *by_trial(tried, tried.of(task, method))) for method in tried.methods(task)]
    shared = {shared for _, shared, _ in methods if shared}
    rows = [row for method, _, found in methods for row in _rows(task, method, found)]
    words = heading("changing-trials", task, shared=unless_said("; ".join(sorted(shared))))
    return make_table(words, COLUMNS, rows)


def _rows(task: str, method: str, found: dict[Trial, Runs]) -> Iterator[Row]:
    scale = task_title(task).scale
    for trial, runs in found.items():
        for change in changes_of(runs, task):
            returned, cost = change_cells(change, scale)
            yield (
                *(method_title(method), trial.changed or "as it is", f"{trial.episodes:,}", change.roster),
                *(f"{min(change.sizes)} to {max(change.sizes)}", returned, cost),
            )
