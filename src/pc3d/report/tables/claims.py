"""Whether the paper's claims hold in our runs: method against method, all comparisons at once."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from pc3d.experiment.methods import METHODS, OURS
from pc3d.report.names import method_title, methods_in_order, task_title
from pc3d.report.paper_numbers import SEEDS
from pc3d.report.runs import Runs
from pc3d.report.statistics import Spread, chance_of_difference, holm
from pc3d.report.tables.differences import found_pair, printed_pair
from pc3d.report.tables.results import SPLITS
from pc3d.report.tables.table import NOTHING, Cell, Table

LEVEL = 0.05
# What PC3D's critic gives alone, and with a context that nobody distils.
OF_THE_CRITIC = (("gate-off", "mappo"), ("gate-off", "pic"), ("a-mappo", "pic"))
CAPTION = (
    "Whether the first method's mean return of a split is better or worse than the second's, each seed "
    "counting once: the p of Welch's t (two-sided) after Holm's correction for all comparisons on the same "
    f"task. Better, worse: p is below {LEVEL:g}. A hint: it would be if this were the only "
    "comparison, but many were looked at. Higher, lower: only the means say so, and these seeds "
    "cannot tell; nothing here says that two methods are equal. Below, what the same test says of the "
    f"paper's printed means and deviations of {SEEDS} seeds."
)

Comparison = tuple[str, str]
Place = tuple[Comparison, str]  # with a split


def claims_table(runs: Runs) -> Table | None:
    """One row per comparison that can be made; nothing without at least two seeds of two methods."""
    rivals = {method for task in runs.tasks for method in runs.methods(task)} - {OURS}
    comparisons = [(OURS, rival) for rival in methods_in_order(rivals)] + list(OF_THE_CRITIC)
    places = list(product(comparisons, SPLITS))
    found = {
        task: _verdicts(
            {
                (pair, split): both
                for pair, split in places
                if (both := found_pair(runs, task, pair, getattr(runs.rosters(task), split)))
            }
        )
        for task in runs.tasks
    }
    tasks = [task for task in runs.tasks if found[task]]
    if not tasks:
        return None
    printed = {task: _printed(task) for task in tasks}
    rows = [
        (
            Cell(f"{method_title(pair[0])} against {method_title(pair[1])}"),
            *(_cell((pair, split), found[task], printed[task]) for task in tasks for split in SPLITS),
        )
        for pair in comparisons
        if any((pair, split) in found[task] for task in tasks for split in SPLITS)
    ]
    return Table(
        name="claims",
        title="Which method is better",
        caption=CAPTION,
        columns=("Comparison", *SPLITS * len(tasks)),
        rows=tuple(rows),
        groups=tuple((task_title(task).name, len(SPLITS)) for task in tasks),
    )


def _printed(task: str) -> dict[Place, Cell]:
    """The verdicts on all that the paper prints for a task, whatever was run here."""
    comparisons = [(OURS, rival) for rival in METHODS if rival != OURS] + list(OF_THE_CRITIC)
    places = product(comparisons, SPLITS)
    return _verdicts({place: both for place in places if (both := printed_pair(task, *place))})


def _verdicts(pairs: dict[Place, tuple[Spread, Spread]]) -> dict[Place, Cell]:
    """What each comparison comes to, once all of them are known."""
    alone = [chance_of_difference(*pair) for pair in pairs.values()]
    return {
        place: _verdict(*pair, *chances)
        for (place, pair), chances in zip(pairs.items(), zip(alone, holm(alone), strict=True), strict=True)
    }


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
