"""Teams that change, by what the policies that play in them were trained with."""

from pc3d.experiment.roster_process import CONSTANT
from pc3d.presets.paper import changes
from pc3d.report.changes import Change, changes_of
from pc3d.report.names import heading, method_title, task_title
from pc3d.report.prose import listed
from pc3d.report.runs import Run, Runs
from pc3d.report.tables.changing_teams import change_cells
from pc3d.report.tables.table import Row, Table, make_table
from pc3d.report.tables.trials import complete_trials

COLUMNS = ("Policy", "trained in", "seeds", "roster", "agents", "return", "cost of churn")


def changing_trials_tables(runs: Runs) -> list[Table | None]:
    """A table for each task with such policies."""
    tried = complete_trials(runs)
    return [_table(tried, task) for task in tried.tasks]


def _table(tried: Runs, task: str) -> Table | None:
    """One row for each method, training and process, played by the same rules with the same sizes."""
    found = changes_of(tried, task, trained_in)
    order = list(dict.fromkeys(change.method for change in found))
    found.sort(key=lambda change: (order.index(change.method), change.trained))
    return make_table(heading("changing-trials", task), COLUMNS, [_row(change, task) for change in found])


def trained_in(run: Run) -> str:
    """In which teams, for how long, and with which settings that are not the usual ones."""
    experiment = run.experiment
    teams = "constant teams" if experiment.roster == CONSTANT else str(experiment.roster)
    others = [change for change in changes(experiment) if not change.startswith("roster:")]
    return "; ".join([teams, f"{experiment.episodes:,} episodes", *others])


def _row(change: Change, task: str) -> Row:
    returned, cost = change_cells(change, task_title(task).scale)
    sizes = listed(map(str, change.sizes))
    return (
        method_title(change.method),
        change.trained,
        str(len(change.seeds)),
        change.roster,
        sizes,
        returned,
        cost,
    )
