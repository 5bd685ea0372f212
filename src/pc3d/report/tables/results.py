"""The paper's three tables of returns by split, each task by itself, with the paper's number below ours."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pc3d.report.names import REFERENCE_TITLES, heading, method_title, methods_in_order, task_title
from pc3d.report.paper_numbers import ABLATION, HYPER, MAIN, ResultTable
from pc3d.report.prose import listed
from pc3d.report.runs import Runs
from pc3d.report.statistics import DEGREES_OF_FREEDOM_LOST, Spread, over_seeds
from pc3d.report.tables.table import NOTHING, Cell, Table, make_table


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


def result_table(kind: Kind, runs: Runs, task: str) -> Table | None:
    """Returns of every method that was run on the task, by split; nothing if there is nothing to compare."""
    if task not in kind.tasks(runs):
        return None
    splits = {split: sizes for split, sizes in runs.splits(task).items() if sizes}
    methods = [method for method in kind.methods(runs) if runs.of(task, method)]
    columns = [_column(kind, runs, task, methods, *split) for split in splits.items()]
    references = _reference_rows(runs, [(task, sizes) for sizes in splits.values()])
    words = heading(kind.name, task, caption="results", **_about(runs, task))
    titles = [f"{split} ({', '.join(map(str, sizes))})" for split, sizes in splits.items()]
    rows = [(method_title(method), *cells) for method, *cells in zip(methods, *columns, strict=True)]
    return make_table(words, ("Method", *titles), rows + (references if kind.published is MAIN else []))


def overview_table(runs: Runs) -> Table | None:
    """All tasks at the sizes that say most about open teams; one task alone needs no overview."""
    tasks = [task for task in MAIN_RESULTS.tasks(runs) if runs.sizes(task, "test")]
    if len(tasks) < 2:
        return None
    given = set(runs.methods(*tasks))
    methods = [method for method in MAIN_RESULTS.methods(runs) if method in given]
    places = [(task, runs.sizes(task, "test")) for task in tasks]
    columns = [_column(MAIN_RESULTS, runs, task, methods, "test", sizes) for task, sizes in places]
    rows = [(method_title(method), *cells) for method, *cells in zip(methods, *columns, strict=True)]
    titles = [f"{task_title(task).with_scale}, {listed(map(str, sizes))} agents" for task, sizes in places]
    return make_table(heading("overview"), ("Method", *titles), rows + _reference_rows(runs, places))


def spread_of_sizes(runs: Runs, task: str, method: str, sizes: Sequence[int]) -> Spread | None:
    """The paper's aggregation: the mean over rollouts within a size, over these sizes, then over seeds."""
    by_seed = runs.matrix(task, method, sizes)
    return over_seeds(by_seed.mean(axis=1) * task_title(task).scale) if by_seed.size else None


def spread_text(spread: Spread) -> str:
    """A mean always says how many seeds it has; one seed has no deviation."""
    deviation = "" if spread.deviation is None else f" ± {spread.deviation:.2f}"
    return f"{spread.mean:.2f}{deviation} (n={spread.seeds})"


def spread_cell(spread: Spread | None, column: Iterable[Spread | None], note: str) -> Cell:
    """The highest mean of its column is the best one, if it and another have more than one seed."""
    if spread is None:
        return Cell(NOTHING, note=note)
    others = [other for other in column if other]
    comparable = spread.seeds > 1 and sum(other.seeds > 1 for other in others) > 1
    return Cell(spread_text(spread), comparable and spread.mean == max(other.mean for other in others), note)


def _column(
    kind: Kind, runs: Runs, task: str, methods: Iterable[str], split: str, sizes: tuple[int, ...]
) -> list[Cell]:
    """Every method's return on a split, with the paper's below where its runs were as long."""
    spreads = {method: spread_of_sizes(runs, task, method, sizes) for method in methods}
    cells = []
    for method, ours in spreads.items():
        beside = runs.as_the_paper(task) and runs.of(task, method)
        paper = kind.published.get(method, {}).get(task, {}).get(split) if beside else None
        note = f"paper {paper.text}" if paper else ""
        cells.append(spread_cell(ours, spreads.values(), note))
    return cells


def _reference_rows(runs: Runs, places: Sequence[tuple[str, tuple[int, ...]]]) -> list[tuple[str, ...]]:
    """Players that learned nothing, to see what a return is worth, on these tasks and sizes."""
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


def _about(runs: Runs, task: str) -> dict[str, Any]:
    """What the caption tells."""
    return {
        "degrees_lost": DEGREES_OF_FREEDOM_LOST,
        "seeds": "; the paper's numbers have five seeds" if runs.as_the_paper(task) else "",
        "episodes": " or ".join(runs.lengths(task)),
        "definition": runs.of(task)[0].return_definition,
    }
