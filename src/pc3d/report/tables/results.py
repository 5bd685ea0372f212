"""The paper's three tables of returns by split, with ours first and the paper's number below each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pc3d.report.names import REFERENCE_TITLES, SPLITS, heading, method_title, methods_in_order, task_title
from pc3d.report.paper_numbers import ABLATION, HYPER, MAIN, ResultTable
from pc3d.report.runs import Runs
from pc3d.report.statistics import DEGREES_OF_FREEDOM_LOST, Spread, over_seeds
from pc3d.report.tables.table import NOTHING, Cell, Table, make_table
from pc3d.tasks.registry import papers


@dataclass(frozen=True)
class Kind:
    """One of the paper's tables."""

    name: str
    published: ResultTable

    def methods(self, runs: Runs) -> list[str]:
        """The paper's rows; the main table also takes methods that no table of the paper has."""
        own = set(self.published)
        if self.published is MAIN:
            own |= set(runs.methods(*runs.tasks)) - set(ABLATION) - set(HYPER)
        return methods_in_order(own)

    def tasks(self, runs: Runs) -> list[str]:
        """Those with a run of one of its rows; besides PC3D, which all tables share."""
        own = set(self.methods(runs)) - (set() if self.published is MAIN else {"pc3d"})
        return [task for task in runs.tasks if own.intersection(runs.methods(task))]


MAIN_RESULTS, ABLATIONS, HYPERNETWORK = Kind("main", MAIN), Kind("ablation", ABLATION), Kind("hyper", HYPER)


def result_table(kind: Kind, runs: Runs, tasks: list[str] | None = None) -> Table | None:
    """Returns of every method by task and split; nothing if no task has anything to compare."""
    methods, tasks = kind.methods(runs), kind.tasks(runs) if tasks is None else tasks
    if not tasks:
        return None
    columns = [_column(kind, runs, task, *split) for task in tasks for split in runs.splits(task).items()]
    rows = [(method_title(method), *cells) for method, *cells in zip(methods, *columns, strict=True)]
    references = _reference_rows(runs, tasks) if kind.published is MAIN else []
    groups = [(task_title(task).with_scale, len(SPLITS)) for task in tasks]
    words = heading(kind.name, caption="results", **_about(runs, tasks))
    return make_table(words, ("Method", *SPLITS * len(tasks)), rows + references, groups)


def spread_of_sizes(runs: Runs, task: str, method: str, sizes: Sequence[int]) -> Spread | None:
    """The paper's aggregation: the mean over rollouts within a size, over these sizes, then over seeds."""
    by_seed = runs.matrix(task, method, sizes)
    return over_seeds(by_seed.mean(axis=1) * task_title(task).scale) if by_seed.size else None


def spread_text(spread: Spread) -> str:
    """A mean always says how many seeds it has; one seed has no deviation."""
    deviation = "" if spread.deviation is None else f" ± {spread.deviation:.2f}"
    return f"{spread.mean:.2f}{deviation} (n={spread.seeds})"


def spread_cell(spread: Spread | None, column: Iterable[Spread | None], note: str) -> Cell:
    """The highest mean of its column is the best one; alone, nothing is best."""
    if spread is None:
        return Cell(NOTHING, note=note)
    means = [other.mean for other in column if other]
    return Cell(spread_text(spread), len(means) > 1 and spread.mean == max(means), note)


def _column(kind: Kind, runs: Runs, task: str, split: str, sizes: tuple[int, ...]) -> list[Cell]:
    """Every method's return on a split, with the paper's below."""
    spreads = {method: spread_of_sizes(runs, task, method, sizes) for method in kind.methods(runs)}
    cells = []
    for method, ours in spreads.items():
        paper = kind.published.get(method, {}).get(task, {}).get(split)
        note = f"paper {paper.text}" if paper else ""
        cells.append(spread_cell(ours, spreads.values(), note))
    return cells


def _reference_rows(runs: Runs, tasks: list[str]) -> list[tuple[str, ...]]:
    """Players that learned nothing, to see what a return is worth."""
    places = [(task, sizes) for task in tasks for sizes in runs.splits(task).values()]
    rows = [
        (reference_title(name), *(reference_text(runs, name, task, sizes) for task, sizes in places))
        for name in REFERENCE_TITLES
    ]
    return [row for row in rows if set(row[1:]) != {NOTHING}]


def reference_title(name: str) -> str:
    return f"{method_title(name)} (reference)"


def reference_text(runs: Runs, name: str, task: str, sizes: tuple[int, ...]) -> str:
    """What a player that learned nothing returns at these sizes on average."""
    player = runs.references.get(task, {}).get(name)
    if player is None or not sizes or player.lacking(sizes):
        return NOTHING
    return f"{player.means(sizes).mean() * task_title(task).scale:.2f}"


def _about(runs: Runs, tasks: list[str]) -> dict[str, Any]:
    """What the caption tells; the paper's numbers beside ours are only comparable at its own length."""
    names, known = {task: task_title(task).name for task in tasks}, papers()
    ours = ", ".join(f"{names[task]} {' or '.join(runs.lengths(task))}" for task in tasks)
    paper = ", ".join(f"{names[task]} {known[task].episodes:,}" for task in tasks if task in known)
    return {
        "degrees_lost": DEGREES_OF_FREEDOM_LOST,
        "seeds": "; the paper's numbers have five seeds" if paper else "",
        "budgets": f"Training episodes: {ours}{f' (paper: {paper})' if paper else ''}.",
        "definitions": " ".join(f"{names[task]}: {runs.of(task)[0].return_definition}." for task in tasks),
    }
