"""Whether the paper's claims hold in our runs: PC3D against every other method, all comparisons at once."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from pc3d.report.differences import found_pair, printed_pair
from pc3d.report.names import OURS, method_title, methods_in_order, task_title
from pc3d.report.paper_numbers import SEEDS
from pc3d.report.result_tables import SPLITS
from pc3d.report.runs import Runs
from pc3d.report.statistics import Spread, chance_of_difference, holm
from pc3d.report.tables import NOTHING, Cell, Table

LEVEL = 0.05
CAPTION = (
    "Whether PC3D's mean return of a split is better or worse than the other method's, each seed counting "
    "once: the p of Welch's t (two-sided) after Holm's correction for all comparisons of the table together. "
    f'"Open", where it is {LEVEL:g} or more, means that these seeds cannot tell, not that both are equal. '
    f"Below, what the same test says of the paper's printed means and deviations of {SEEDS} seeds."
)

Place = tuple[str, str, str]  # task, method, split
Pair = tuple[Spread, Spread]


def claims_table(runs: Runs) -> Table | None:
    """One row per method that PC3D can be compared with; nothing without at least two seeds of both."""
    methods = methods_in_order({method for task in runs.tasks for method in runs.methods(task)} - {OURS})
    places = list(product(runs.tasks, methods, SPLITS))
    found = _verdicts({place: pair for place in places if (pair := found_pair(runs, *place))})
    if not found:
        return None
    tasks = [task for task in runs.tasks if any(place[0] == task for place in found)]
    methods = [method for method in methods if any(place[1] == method for place in found)]
    places = list(product(tasks, methods, SPLITS))
    printed = _verdicts({place: pair for place in places if (pair := printed_pair(*place))})
    rows = [
        (
            Cell(f"PC3D against {method_title(method)}"),
            *(_cell((task, method, split), found, printed) for task in tasks for split in SPLITS),
        )
        for method in methods
    ]
    return Table(
        name="claims",
        title="Is PC3D better than each other method?",
        caption=CAPTION,
        columns=("Comparison", *SPLITS * len(tasks)),
        rows=tuple(rows),
        groups=tuple((task_title(task).name, len(SPLITS)) for task in tasks),
    )


def _verdicts(pairs: dict[Place, Pair]) -> dict[Place, Cell]:
    """What each comparison comes to, once all of them are known."""
    corrected = holm([chance_of_difference(*pair) for pair in pairs.values()])
    return {
        place: _verdict(*pair, chance) for (place, pair), chance in zip(pairs.items(), corrected, strict=True)
    }


def _verdict(ours: Spread, theirs: Spread, chance: float) -> Cell:
    word = "open" if chance >= LEVEL else "better" if ours.mean > theirs.mean else "worse"
    size = "< 0.001" if chance < 0.001 else f"= {chance:.3f}"
    return Cell(f"{word}, p {size}", best=chance < LEVEL)


def _cell(place: Place, found: dict[Place, Cell], printed: dict[Place, Cell]) -> Cell:
    note = f"paper: {printed[place].text}" if place in printed else ""
    return replace(found.get(place, Cell(NOTHING)), note=note)
