"""Returns in teams of unlike agents: mix by mix, over the sizes of each split."""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from pc3d.evaluation.unlike import MixScores, read_mix_scores
from pc3d.experiment.mixes import SPLITS
from pc3d.experiment.rosters import Rosters
from pc3d.report.names import heading, method_title, task_title
from pc3d.report.runs import Run, Runs
from pc3d.report.statistics import over_seeds
from pc3d.report.tables.results import spread_text
from pc3d.report.tables.table import NOTHING, Row, Table, make_table

COLUMNS = ("Policy", "sees", "mix", "split of the mix", *(f"{split} sizes" for split in SPLITS))
Key = tuple[str, str, str, str]  # as in the first columns


def mix_table(runs: Runs, task: str) -> Table | None:
    """One row for each method, view of capabilities and mix."""
    return make_table(heading("mixes", task), COLUMNS, list(_rows(runs, task)))


def tasks_with_mixes(runs: Runs) -> list[str]:
    return sorted({run.experiment.task for run in runs.given if any(read_mix_scores(run.folder.path))})


def _rows(runs: Runs, task: str) -> Iterator[Row]:
    found: dict[Key, list[tuple[Run, MixScores]]] = defaultdict(list)
    for run in runs.given:
        if run.experiment.task == task and run.folder.done:
            seen = run.experiment.mixes.seen if run.experiment.mixes else NOTHING
            for scores in read_mix_scores(run.folder.path):
                key = method_title(run.experiment.method), seen, scores.mix, scores.split
                found[key].append((run, scores))
    for key, seeds in found.items():
        yield *key, *(_cell(seeds, split, task_title(task).scale) for split in SPLITS)


def _cell(seeds: list[tuple[Run, MixScores]], split: str, scale: float) -> str:
    means = [scale * mean for run, scores in seeds for mean in _mean(scores, run.experiment.rosters, split)]
    return spread_text(over_seeds(np.array(means))) if means else NOTHING


def _mean(scores: MixScores, rosters: Rosters, split: str) -> Iterator[float]:
    """Of one seed over the sizes of a split, if it was scored at them."""
    sizes = [size for size in getattr(rosters, split) if size in scores.returns]
    if sizes:
        yield float(np.mean([scores.returns[size].mean() for size in sizes]))
