"""What each method needs when it acts, how much is said, and what that returns: what acting alone costs."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pc3d.experiment.execution import ALONE, Execution
from pc3d.experiment.methods import METHODS, execution_of, needs_of
from pc3d.report.names import heading, method_title, task_title
from pc3d.report.runs import Run, Runs
from pc3d.report.statistics import DEGREES_OF_FREEDOM_LOST, Estimate, mean_of
from pc3d.report.tables.results import MAIN_RESULTS, spread_cell, spread_of_sizes
from pc3d.report.tables.table import NOTHING, Cell, Row, Table, make_table

UNKNOWN, LAST = "not known here", 9  # of a method of somebody's own, whose row nobody has named
COLUMNS = ("Method", "needs at execution", "messages per agent and step", "numbers in each")


@dataclass(frozen=True)
class AtExecution:
    """One method's runs on a task, by what its agents need when they act."""

    method: str
    run: Run
    execution: Execution | None

    @property
    def order(self) -> tuple[int, str]:
        """What needs the most comes last."""
        return (self.execution.rank, self.execution.most) if self.execution else (LAST, UNKNOWN)

    @property
    def most(self) -> str:
        return self.order[1]

    @property
    def taught_with_the_team(self) -> bool:
        """Whether an actor learned with the whole team in view, and left a student that does without."""
        return self.run.experiment.algorithm.insight is not None


def at_execution(runs: Runs, task: str) -> list[AtExecution]:
    """The methods of the main table, by their needs; nothing where all needs are alike from the start."""
    given = [runs.of(task, method)[0] for method in MAIN_RESULTS.methods(runs) if runs.of(task, method)]
    found = sorted((_of(run) for run in given), key=lambda one: one.order)
    taught = {one.taught_with_the_team for one in found if one.execution == ALONE}
    asking = any(one.execution not in (None, ALONE) for one in found)
    return found if asking or len(taught) > 1 else []


def _of(run: Run) -> AtExecution:
    experiment = run.experiment
    known = experiment.method in METHODS
    execution = execution_of(experiment.method, experiment.messages) if known else None
    return AtExecution(experiment.method, run, execution)


def execution_table(runs: Runs, task: str) -> Table | None:
    """One row for each method, the most modest first."""
    found = at_execution(runs, task)
    splits = {split: sizes for split, sizes in runs.splits(task).items() if sizes}
    methods = [one.method for one in found]
    columns = [_returns(runs, task, methods, sizes) for sizes in splits.values()]
    rows: list[Row] = [
        (
            method_title(one.method),
            _needs(one),
            *_said(runs, task, one),
            *(column[place] for column in columns),
        )
        for place, one in enumerate(found)
    ]
    titles = (f"{split} ({', '.join(map(str, sizes))})" for split, sizes in splits.items())
    return make_table(
        heading("execution", task, degrees_lost=DEGREES_OF_FREEDOM_LOST), (*COLUMNS, *titles), rows
    )


def _needs(one: AtExecution) -> Cell:
    if one.execution is None:
        return Cell(UNKNOWN)
    note = "in training, a teacher with the team in view" if one.taught_with_the_team else ""
    return Cell(needs_of(one.method, one.run.experiment.messages), note=note)


def _said(runs: Runs, task: str, one: AtExecution) -> Row:
    """How many messages an agent heard at a step, and how many numbers each has."""
    messages = one.run.experiment.messages
    if one.execution is None or (messages is None and one.execution.messages):
        return NOTHING, NOTHING
    if messages is None:
        return "0", NOTHING
    heard = [scores.messages for scores in runs.scored(task, one.method) if scores.messages]
    sizes = runs.rosters(task).all
    by_size = [float(np.mean([of_seed[size].mean() for of_seed in heard])) for size in sizes] if heard else []
    return measured(by_size), str(messages.width)


def measured(by_size: list[float]) -> Cell:
    """The mean over team sizes, and between which numbers it lies."""
    if not by_size:
        return Cell(NOTHING)
    fewest, most = (f"{number(by_size):.2f}" for number in (min, max))
    return Cell(f"{np.mean(by_size):.2f}", note="" if fewest == most else f"{fewest} to {most} by team size")


def _returns(runs: Runs, task: str, methods: Iterable[str], sizes: tuple[int, ...]) -> list[Cell]:
    """Mean ± standard deviation over seeds, and below it the interval of the mean."""
    spreads = {method: spread_of_sizes(runs, task, method, sizes) for method in methods}
    scale = task_title(task).scale
    return [
        spread_cell(spread, spreads.values(), _interval(runs, task, method, sizes, scale))
        for method, spread in spreads.items()
    ]


def _interval(runs: Runs, task: str, method: str, sizes: tuple[int, ...], scale: float) -> str:
    by_seed = runs.matrix(task, method, sizes)
    return interval_text(mean_of(by_seed.mean(axis=1) * scale)) if by_seed.size else ""


def interval_text(found: Estimate) -> str:
    return "" if found.interval is None else "[{:.2f}, {:.2f}]".format(*found.interval)
