"""Method against method: what PC3D gains over each other one, and whether the paper's claims hold."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

from pc3d.experiment.methods import METHODS, OURS
from pc3d.report.names import SPLITS, Heading, heading, method_title
from pc3d.report.paper_numbers import SEEDS, published_returns
from pc3d.report.runs import Runs
from pc3d.report.statistics import Estimate, Spread, chance_of_difference, difference, holm
from pc3d.report.tables.results import spread_of_sizes
from pc3d.report.tables.table import NOTHING, Cell, Row, Table, make_table

OF_THE_PAPER = (
    f" The paper's differences, in the same way, from its printed means and deviations of {SEEDS} seeds."
)
CLAIMS_OF_THE_PAPER = (
    f" Below, what the same test says of the paper's printed means and deviations of {SEEDS} seeds."
)
LEVEL = 0.05
# What PC3D's critic gives alone, and with a context that nobody distils.
OF_THE_CRITIC = (("gate-off", "mappo"), ("gate-off", "pic"), ("a-mappo", "pic"))

Comparison = tuple[str, str]  # of methods
Pair = tuple[Spread, Spread]  # their returns
Place = tuple[Comparison, str]  # with a split


def difference_table(runs: Runs, task: str) -> Table | None:
    """By split; one row per method that PC3D can be compared with, with at least two seeds of both."""
    words = heading("differences", task, of_the_paper=OF_THE_PAPER if runs.as_the_paper(task) else "")
    return _differences(runs, task, words, runs.splits(task))


def size_difference_table(runs: Runs, task: str) -> Table | None:
    """The same by team size: whether a gain is that of one favourable size, and whether it grows."""
    words, rosters = heading("sizes", task, caption="differences", of_the_paper=""), runs.rosters(task)
    columns = {f"{size} ({rosters.split_of(size)})": (size,) for size in rosters.all}
    return _differences(runs, task, words, columns)


def _differences(runs: Runs, task: str, words: Heading, columns: Mapping[str, Sequence[int]]) -> Table | None:
    rows: list[Row] = []
    for method in runs.methods(task):
        cells = [_difference(runs, task, method, column, sizes) for column, sizes in columns.items()]
        if method != OURS and any(cell.text != NOTHING for cell in cells):
            rows.append((f"PC3D minus {method_title(method)}", *cells))
    return make_table(words, ("Difference", *columns), rows)


def _difference(runs: Runs, task: str, method: str, column: str, sizes: Sequence[int]) -> Cell:
    found = found_pair(runs, task, (OURS, method), sizes)
    beside = column in SPLITS and runs.as_the_paper(task)
    printed = printed_pair(task, (OURS, method), column) if beside else None
    note = f"paper {difference_cell(difference(*printed)).text}" if printed else ""
    return difference_cell(difference(*found), note) if found else Cell(NOTHING, note=note)


def found_pair(runs: Runs, task: str, methods: Comparison, sizes: Sequence[int]) -> Pair | None:
    """Two methods' returns, if both have seeds enough to be compared."""
    ours, theirs = (spread_of_sizes(runs, task, method, sizes) for method in methods)
    return (ours, theirs) if ours and theirs and min(ours.seeds, theirs.seeds) > 1 else None


def printed_pair(task: str, methods: Comparison, split: str) -> Pair | None:
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


def claims_table(runs: Runs, task: str) -> Table | None:
    """One row per comparison that can be made; nothing without at least two seeds of two methods."""
    comparisons = _comparisons(runs.methods(task))
    pairs = {
        (pair, split): found_pair(runs, task, pair, runs.sizes(task, split))
        for pair, split in product(comparisons, SPLITS)
    }
    found, printed = _verdicts(pairs), _printed(task) if runs.as_the_paper(task) else {}
    rows: list[Row] = [
        (
            f"{method_title(pair[0])} against {method_title(pair[1])}",
            *(_cell((pair, split), found, printed) for split in SPLITS),
        )
        for pair in comparisons
        if any((pair, split) in found for split in SPLITS)
    ]
    of_the_paper = CLAIMS_OF_THE_PAPER if printed else ""
    words = heading("claims", task, level=LEVEL, of_the_paper=of_the_paper)
    return make_table(words, ("Comparison", *SPLITS), rows)


def _comparisons(methods: Iterable[str]) -> list[Comparison]:
    return [*((OURS, rival) for rival in methods if rival != OURS), *OF_THE_CRITIC]


def _printed(task: str) -> dict[Place, Cell]:
    """The verdicts on all that the paper prints for a task, whatever was run here."""
    places = product(_comparisons(METHODS), SPLITS)
    return _verdicts({(pair, split): printed_pair(task, pair, split) for pair, split in places})


def _verdicts(pairs: Mapping[Place, Pair | None]) -> dict[Place, Cell]:
    """What each comparison that can be made comes to, once all of them are known."""
    known = {place: pair for place, pair in pairs.items() if pair}
    alone = [chance_of_difference(*pair) for pair in known.values()]
    chances = zip(alone, holm(alone), strict=True)
    return {place: _verdict(*pair, *both) for (place, pair), both in zip(known.items(), chances, strict=True)}


def _verdict(ours: Spread, theirs: Spread, alone: float, corrected: float) -> Cell:
    better = ours.mean > theirs.mean
    if alone < LEVEL:
        word = ("" if corrected < LEVEL else "hint: ") + ("better" if better else "worse")
    else:
        word = "higher" if better else "lower"
    size = "< 0.001" if corrected < 0.001 else f"= {corrected:.3f}"
    return Cell(f"{word}, p {size}", best=corrected < LEVEL)


def _cell(place: Place, found: dict[Place, Cell], printed: dict[Place, Cell]) -> Cell:
    note = f"paper: {printed[place].text}" if place in printed else ""
    return replace(found.get(place, Cell(NOTHING)), note=note)
