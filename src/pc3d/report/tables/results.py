"""The paper's three tables of returns by split, with ours first and the paper's number below each."""

from __future__ import annotations

from dataclasses import dataclass

from pc3d.report.names import REFERENCES, method_title, methods_in_order, task_title
from pc3d.report.paper_numbers import ABLATION, HYPER, MAIN, Published, ResultTable
from pc3d.report.runs import Runs
from pc3d.report.statistics import DEGREES_OF_FREEDOM_LOST, Spread, over_seeds
from pc3d.report.tables.table import NOTHING, Cell, Table
from pc3d.tasks.registry import papers

SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class Kind:
    """One of the paper's tables."""

    name: str
    title: str
    published: ResultTable
    with_references: bool = False

    def methods(self, runs: Runs) -> list[str]:
        """The paper's rows; the main table also takes methods that no table of the paper has."""
        own = set(self.published)
        if self.published is MAIN:
            given = {method for task in runs.tasks for method in runs.methods(task)}
            own |= given - set(ABLATION) - set(HYPER)
        return methods_in_order(own)

    def tasks(self, runs: Runs) -> list[str]:
        """Those with a run of one of its rows; besides PC3D, which all tables share."""
        own = set(self.methods(runs)) - (set() if self.published is MAIN else {"pc3d"})
        return [task for task in runs.tasks if own.intersection(runs.methods(task))]


MAIN_RESULTS = Kind("main", "Evaluation performance across roster splits", MAIN, with_references=True)
ABLATIONS = Kind("ablation", "Ablation study", ABLATION)
HYPERNETWORK = Kind("hyper", "Conditioning by FiLM and by a hypernetwork", HYPER)


@dataclass(frozen=True)
class Entry:
    """A cell before it is known which one is the best of its column."""

    ours: Spread | None
    paper: Published | None


def result_table(kind: Kind, runs: Runs, tasks: list[str] | None = None) -> Table | None:
    """Returns of every method by task and split; nothing if no task has anything to compare."""
    methods, tasks = kind.methods(runs), kind.tasks(runs) if tasks is None else tasks
    if not tasks:
        return None
    entries = {
        method: [_entry(kind, runs, task, method, split) for task in tasks for split in SPLITS]
        for method in methods
    }
    best = [_best(column) for column in zip(*entries.values(), strict=True)]
    rows = [(Cell(method_title(method)), *map(_cell, entries[method], best)) for method in methods]
    return Table(
        name=kind.name,
        title=kind.title,
        caption=_caption(runs, tasks),
        columns=("Method", *SPLITS * len(tasks)),
        rows=(*rows, *(_reference_rows(runs, tasks) if kind.with_references else ())),
        groups=tuple((task_title(task).with_scale, len(SPLITS)) for task in tasks),
    )


def spread_of_split(runs: Runs, task: str, method: str, split: str) -> Spread | None:
    """The paper's aggregation over a split."""
    return spread_of_sizes(runs, task, method, getattr(runs.rosters(task), split))


def spread_of_sizes(runs: Runs, task: str, method: str, sizes: tuple[int, ...]) -> Spread | None:
    """The mean over rollouts within a size, over these sizes, then over seeds."""
    by_seed = runs.matrix(task, method, sizes)
    return over_seeds(by_seed.mean(axis=1) * task_title(task).scale) if by_seed.size else None


def spread_text(spread: Spread) -> str:
    """A mean always says how many seeds it has; one seed has no deviation."""
    deviation = "" if spread.deviation is None else f" ± {spread.deviation:.2f}"
    return f"{spread.mean:.2f}{deviation} (n={spread.seeds})"


def _entry(kind: Kind, runs: Runs, task: str, method: str, split: str) -> Entry:
    paper = kind.published.get(method, {}).get(task, {}).get(split)
    return Entry(spread_of_split(runs, task, method, split), paper)


def _best(column: tuple[Entry, ...]) -> float | None:
    """The highest of our means; with a single method nothing is best."""
    means = [entry.ours.mean for entry in column if entry.ours]
    return max(means) if len(means) > 1 else None


def _cell(entry: Entry, best: float | None) -> Cell:
    paper = entry.paper
    return Cell(
        text=spread_text(entry.ours) if entry.ours else NOTHING,
        best=entry.ours is not None and entry.ours.mean == best,
        note=f"paper {paper.mean:.2f} ± {paper.deviation:.{paper.digits}f}" if paper else "",
    )


def _reference_rows(runs: Runs, tasks: list[str]) -> list[tuple[Cell, ...]]:
    """Players that learned nothing, to see what a return is worth."""
    rows = []
    for name in REFERENCES:
        cells = [
            reference_cell(runs, name, task, getattr(runs.rosters(task), split))
            for task in tasks
            for split in SPLITS
        ]
        if any(cell.text != NOTHING for cell in cells):
            rows.append((reference_title(name), *cells))
    return rows


def reference_title(name: str) -> Cell:
    return Cell(f"{method_title(name)} (reference)")


def reference_cell(runs: Runs, name: str, task: str, sizes: tuple[int, ...]) -> Cell:
    """What a player that learned nothing returns at these sizes on average."""
    player = runs.references.get(task, {}).get(name)
    if player is None or not sizes or player.lacking(sizes):
        return Cell(NOTHING)
    return Cell(f"{player.means(sizes).mean() * task_title(task).scale:.2f}")


def _caption(runs: Runs, tasks: list[str]) -> str:
    seeds = "; the paper's numbers have five seeds" if any(task in papers() for task in tasks) else ""
    definitions = " ".join(f"{task_title(task).name}: {runs.return_definition(task)}." for task in tasks)
    return (
        "Mean over the rollouts of a team size, then over the sizes of a split, then mean ± standard "
        f"deviation over n seeds (divided by n - {DEGREES_OF_FREEDOM_LOST}). Higher is better; bold is our "
        f"best of a column{seeds}. {_budgets(runs, tasks)} "
        f"Returns: {definitions}"
    )


def _budgets(runs: Runs, tasks: list[str]) -> str:
    """How long our runs were, since the paper's number beside them is only comparable at its own length."""
    parts = []
    for task in tasks:
        lengths = sorted({run.experiment.episodes for run in runs.all if run.experiment.task == task})
        parts.append(f"{task_title(task).name} {' or '.join(f'{length:,}' for length in lengths)}")
    known = papers()
    paper = ", ".join(f"{task_title(task).name} {known[task].episodes:,}" for task in tasks if task in known)
    return f"Training episodes: {', '.join(parts)}{f' (paper: {paper})' if paper else ''}."
