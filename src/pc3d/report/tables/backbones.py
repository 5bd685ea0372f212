"""Is it the method or the backbone? Each learner with PC3D and without it, by split."""

from collections.abc import Sequence

from pc3d.experiment.methods import METHODS, OURS
from pc3d.report.names import heading, method_title
from pc3d.report.runs import Runs
from pc3d.report.statistics import difference
from pc3d.report.tables.comparisons import difference_cell
from pc3d.report.tables.results import spread_of_sizes, spread_text
from pc3d.report.tables.table import NOTHING, Cell, Row, Table, make_table


def backbone_table(runs: Runs, task: str) -> Table | None:
    """One row for each backbone that was run both ways; MAPPO's alone is told by other tables."""
    pairs = _pairs(runs, task)
    splits = {split: sizes for split, sizes in runs.splits(task).items() if sizes}
    rows: list[Row] = [
        (method_title(backbone), *(_cell(runs, task, (method, backbone), sizes) for sizes in splits.values()))
        for method, backbone in pairs.items()
    ]
    titles = [f"{split} ({', '.join(map(str, sizes))})" for split, sizes in splits.items()]
    words = heading("backbones", task)
    return make_table(words, ("Backbone", *titles), rows) if set(pairs) - {OURS} else None


def _pairs(runs: Runs, task: str) -> dict[str, str]:
    """Methods that were run with PC3D, and what each is without it, if that was run, too."""
    given = set(runs.methods(task))
    backbones = {name: METHODS[name].backbone for name in METHODS if name in given}
    return {method: backbone for method, backbone in backbones.items() if backbone and backbone in given}


def _cell(runs: Runs, task: str, methods: tuple[str, str], sizes: Sequence[int]) -> Cell:
    """What PC3D adds, with the two returns below."""
    with_it, without_it = (spread_of_sizes(runs, task, method, sizes) for method in methods)
    if with_it is None or without_it is None:
        return Cell(NOTHING)
    note = f"{spread_text(with_it)} against {spread_text(without_it)}"
    return difference_cell(difference(with_it, without_it), note)
