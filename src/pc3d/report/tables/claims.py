"""Whether the paper's claims hold in our runs: method against method, all comparisons at once."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product

from pc3d.experiment.methods import METHODS, OURS
from pc3d.report.names import SPLITS, heading, method_title, task_title
from pc3d.report.paper_numbers import SEEDS
from pc3d.report.runs import Runs
from pc3d.report.statistics import Spread, chance_of_difference, holm
from pc3d.report.tables.differences import found_pair, printed_pair
from pc3d.report.tables.table import NOTHING, Cell, Row, Table, make_table

LEVEL = 0.05
# What PC3D's critic gives alone, and with a context that nobody distils.
OF_THE_CRITIC = (("gate-off", "mappo"), ("gate-off", "pic"), ("a-mappo", "pic"))

Comparison = tuple[str, str]
Place = tuple[Comparison, str]  # with a split


def claims_table(runs: Runs) -> Table | None:
    """One row per comparison that can be made; nothing without at least two seeds of two methods."""
    comparisons = _comparisons(runs.methods(*runs.tasks))
    found = {
        task: _verdicts(
            {
                (pair, split): found_pair(runs, task, pair, runs.sizes(task, split))
                for pair, split in product(comparisons, SPLITS)
            }
        )
        for task in runs.tasks
    }
    tasks = [task for task in runs.tasks if found[task]]
    printed = {task: _printed(task) for task in tasks}
    rows: list[Row] = [
        (
            f"{method_title(pair[0])} against {method_title(pair[1])}",
            *(_cell((pair, split), found[task], printed[task]) for task in tasks for split in SPLITS),
        )
        for pair in comparisons
        if any((pair, split) in found[task] for task in tasks for split in SPLITS)
    ]
    groups = [(task_title(task).name, len(SPLITS)) for task in tasks]
    words = heading("claims", level=LEVEL, seeds=SEEDS)
    return make_table(words, ("Comparison", *SPLITS * len(tasks)), rows, groups)


def _comparisons(methods: Iterable[str]) -> list[Comparison]:
    return [*((OURS, rival) for rival in methods if rival != OURS), *OF_THE_CRITIC]


def _printed(task: str) -> dict[Place, Cell]:
    """The verdicts on all that the paper prints for a task, whatever was run here."""
    places = product(_comparisons(METHODS), SPLITS)
    return _verdicts({(pair, split): printed_pair(task, pair, split) for pair, split in places})


def _verdicts(pairs: Mapping[Place, tuple[Spread, Spread] | None]) -> dict[Place, Cell]:
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
