"""PC3D against each other method: the differences that the paper's claims are about."""

from __future__ import annotations

from pc3d.experiment.methods import OURS
from pc3d.report.names import file_name, method_title, task_title
from pc3d.report.paper_numbers import SEEDS, Published, published_returns
from pc3d.report.runs import Runs
from pc3d.report.statistics import Estimate, Spread, difference
from pc3d.report.tables.results import SPLITS, spread_of_sizes
from pc3d.report.tables.table import NOTHING, Cell, Table

CAPTION = (
    "PC3D's mean return minus the other method's, with the 95 % interval of Welch's t, in which each seed "
    "counts once. Bold where the interval leaves zero out: above zero PC3D is better, below it is worse; "
    "elsewhere these seeds cannot tell. No correction for the number of comparisons: with one method as good "
    "as another, one bold cell in twenty would come by chance."
)
CAPTION_OF_THE_PAPER = (
    f"The paper's differences, in the same way, from its printed means and deviations of {SEEDS} seeds."
)


def difference_table(runs: Runs, task: str) -> Table | None:
    """By split; one row per method that PC3D can be compared with, with at least two seeds of both."""
    return _table(
        runs,
        task,
        name="differences",
        title="what PC3D gains over each other method",
        caption=f"{CAPTION} {CAPTION_OF_THE_PAPER}",
        columns={split: getattr(runs.rosters(task), split) for split in SPLITS},
    )


def size_difference_table(runs: Runs, task: str) -> Table | None:
    """The same by team size: whether a gain is that of one favourable size, and whether it grows."""
    rosters = runs.rosters(task)
    return _table(
        runs,
        task,
        name="sizes",
        title="what PC3D gains at each team size",
        caption=CAPTION,
        columns={f"{size} ({rosters.split_of(size)})": (size,) for size in rosters.all},
    )


def _table(
    runs: Runs, task: str, *, name: str, title: str, caption: str, columns: dict[str, tuple[int, ...]]
) -> Table | None:
    others = [method for method in runs.methods(task) if method != OURS]
    rows = [
        (
            Cell(f"PC3D minus {method_title(method)}"),
            *(_cell(runs, task, method, column, sizes) for column, sizes in columns.items()),
        )
        for method in others
    ]
    rows = [row for row in rows if any(cell.text != NOTHING for cell in row[1:])]
    if not rows:
        return None
    return Table(
        name=file_name(name, task),
        title=f"{task_title(task).with_scale}: {title}",
        caption=caption,
        columns=("Difference", *columns),
        rows=tuple(rows),
    )


def _cell(runs: Runs, task: str, method: str, column: str, sizes: tuple[int, ...]) -> Cell:
    found = found_pair(runs, task, (OURS, method), sizes)
    printed = printed_pair(task, (OURS, method), column) if column in SPLITS else None
    note = f"paper {difference_cell(difference(*printed)).text}" if printed else ""
    return difference_cell(difference(*found), note) if found else Cell(NOTHING, note=note)


def found_pair(
    runs: Runs, task: str, methods: tuple[str, str], sizes: tuple[int, ...]
) -> tuple[Spread, Spread] | None:
    """Two methods' returns, if both have seeds enough to be compared."""
    ours, theirs = (spread_of_sizes(runs, task, method, sizes) for method in methods)
    if ours is None or theirs is None or min(ours.seeds, theirs.seeds) < 2:
        return None
    return ours, theirs


def printed_pair(task: str, methods: tuple[str, str], split: str) -> tuple[Spread, Spread] | None:
    """The same two as the paper prints them."""
    ours, theirs = (published_returns(method, task, split) for method in methods)
    return (_as_spread(ours), _as_spread(theirs)) if ours and theirs else None


def difference_cell(estimate: Estimate, note: str = "") -> Cell:
    """A difference and its interval, in bold where that leaves zero out."""
    if estimate.interval is None:
        return Cell(f"{estimate.value:+.2f}", note=note)
    low, high = estimate.interval
    text = f"{estimate.value:+.2f} [{low:+.2f}, {high:+.2f}]"
    return Cell(text, best=low > 0 or high < 0, note=note)


def _as_spread(printed: Published) -> Spread:
    return Spread(printed.mean, printed.deviation, SEEDS)
