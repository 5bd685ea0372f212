"""PC3D against each other method: the differences that the paper's claims are about."""

from pc3d.experiment.methods import OURS
from pc3d.report.names import SPLITS, Heading, heading, method_title
from pc3d.report.paper_numbers import SEEDS, published_returns
from pc3d.report.runs import Runs
from pc3d.report.statistics import Estimate, Spread, difference
from pc3d.report.tables.results import spread_of_sizes
from pc3d.report.tables.table import NOTHING, Cell, Row, Table, make_table

OF_THE_PAPER = (
    f" The paper's differences, in the same way, from its printed means and deviations of {SEEDS} seeds."
)


def difference_table(runs: Runs, task: str) -> Table | None:
    """By split; one row per method that PC3D can be compared with, with at least two seeds of both."""
    words = heading("differences", task, of_the_paper=OF_THE_PAPER)
    return _table(runs, task, words, {split: runs.sizes(task, split) for split in SPLITS})


def size_difference_table(runs: Runs, task: str) -> Table | None:
    """The same by team size: whether a gain is that of one favourable size, and whether it grows."""
    words, rosters = heading("sizes", task, caption="differences", of_the_paper=""), runs.rosters(task)
    return _table(runs, task, words, {f"{size} ({rosters.split_of(size)})": (size,) for size in rosters.all})


def _table(runs: Runs, task: str, words: Heading, columns: dict[str, tuple[int, ...]]) -> Table | None:
    rows: list[Row] = []
    for method in runs.methods(task):
        cells = [_cell(runs, task, method, column, sizes) for column, sizes in columns.items()]
        if method != OURS and any(cell.text != NOTHING for cell in cells):
            rows.append((f"PC3D minus {method_title(method)}", *cells))
    return make_table(words, ("Difference", *columns), rows)


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
    return (ours, theirs) if ours and theirs and min(ours.seeds, theirs.seeds) > 1 else None


def printed_pair(task: str, methods: tuple[str, str], split: str) -> tuple[Spread, Spread] | None:
    """The same two as the paper prints them."""
    printed = [published_returns(method, task, split) for method in methods]
    ours, theirs = (each and Spread(each.mean, each.deviation, SEEDS) for each in printed)
    return (ours, theirs) if ours and theirs else None


def difference_cell(estimate: Estimate, note: str = "") -> Cell:
    """A difference and its interval, in bold where that leaves zero out."""
    if estimate.interval is None:
        return Cell(f"{estimate.value:+.2f}", note=note)
    low, high = estimate.interval
    text = f"{estimate.value:+.2f} [{low:+.2f}, {high:+.2f}]"
    return Cell(text, best=low > 0 or high < 0, note=note)
