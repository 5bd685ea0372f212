"""What each setting that was tried gave, beside the settings as they are: never at test sizes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pc3d.experiment.rosters import Rosters
from pc3d.presets.paper import changes
from pc3d.report.names import file_name, method_title, methods_in_order, task_title, tasks_in_order
from pc3d.report.runs import Run, Runs
from pc3d.report.statistics import Spread, over_seeds
from pc3d.report.tables.context import RECOVERY, Context, read_context
from pc3d.report.tables.results import reference_cell, reference_title, spread_text
from pc3d.report.tables.table import NOTHING, Cell, Table

SPLITS = ("train", "validation")
UNCHANGED = "as it is"
CAPTION = (
    "Mean return of a split over n seeds (± standard deviation) with the settings named here changed, and "
    "below it the difference from the row of the same length with none changed. Bold is the best of a "
    "column among runs of one length; a single seed cannot tell a small difference from chance. Test sizes "
    "were sealed: pc3d plays no such policy at one."
)
CAPTION_OF_RECOVERY = "How the context is recovered and used: means over all sizes of both splits."


@dataclass(frozen=True)
class Trial:
    """What was changed, and for how long it was trained: the runs of one trial differ in the seed alone."""

    changed: str
    episodes: int


Spreads = tuple[Spread | None, ...]  # one for each split; none where a task has no sizes of it


def trial_tables(runs: Runs) -> tuple[Table, ...]:
    """One table for each task and method with trials."""
    found: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for run in runs.trials:
        if run.trouble is None:
            found[run.experiment.task, run.experiment.method].append(run)
    tasks, methods = ({key[place] for key in found} for place in (0, 1))
    return tuple(
        _table(runs, task, method, found[task, method])
        for task in tasks_in_order(tasks)
        for method in methods_in_order(methods)
        if (task, method) in found
    )


def _table(runs: Runs, task: str, method: str, tried: list[Run]) -> Table:
    shared = set.intersection(*(set(changes(run.experiment)) for run in tried))
    by_trial: dict[Trial, list[Run]] = defaultdict(list)
    for run in tried:
        own = [change for change in changes(run.experiment) if change not in shared]
        by_trial[Trial(_as_typed(own) or UNCHANGED, run.experiment.episodes)].append(run)
    spreads = {trial: _spreads(task, by_trial[trial]) for trial in sorted(by_trial, key=_order)}
    contexts = {trial: _contexts(by_trial[trial]) for trial in spreads}
    recovery = RECOVERY if any(contexts.values()) else {}
    sentences = (
        CAPTION,
        CAPTION_OF_RECOVERY if recovery else "",
        f"In every row: {_as_typed(sorted(shared))}." if shared else "",
    )
    return Table(
        name=file_name(f"trials-{method}", task),
        title=f"{task_title(task).with_scale}: settings tried with {method_title(method)}",
        caption=" ".join(filter(None, sentences)),
        columns=("Changed", "episodes", *SPLITS, *recovery.values()),
        rows=(
            *(
                (*_row(trial, spreads), *(_recovery_cell(contexts[trial], name) for name in recovery))
                for trial in spreads
            ),
            *(
                (*_random_row(runs, task, rosters), *(Cell(NOTHING) for _ in recovery))
                for rosters in dict.fromkeys(run.experiment.rosters for run in tried)
                if "random" in runs.references.get(task, {})
            ),
        ),
    )


def _random_row(runs: Runs, task: str, rosters: Rosters) -> tuple[Cell, ...]:
    """What chance alone returns."""
    cells = (reference_cell(runs, "random", task, getattr(rosters, split)) for split in SPLITS)
    return reference_title("random"), Cell(NOTHING), *cells


def _as_typed(changed: Iterable[str]) -> str:
    """Changes with the names of settings as on the command line."""
    parts = (change.partition(":") for change in changed)
    return ", ".join(f"{name.replace('_', '-')}:{values}" for name, _, values in parts)


def _order(trial: Trial) -> tuple[int, bool, str]:
    return trial.episodes, trial.changed != UNCHANGED, trial.changed


def _spreads(task: str, runs: list[Run]) -> Spreads:
    return tuple(_spread(task, runs, split) for split in SPLITS)


def _spread(task: str, runs: list[Run], split: str) -> Spread | None:
    sizes = getattr(runs[0].experiment.rosters, split)
    if not sizes:
        return None
    means = [run.scores.means(sizes).mean() for run in runs if run.scores]
    return over_seeds(np.array(means) * task_title(task).scale)


def _contexts(runs: list[Run]) -> list[Context]:
    return [context for run in runs if (context := read_context(run)) is not None]


def _recovery_cell(contexts: list[Context], name: str) -> Cell:
    values = [[size[name] for size in context.by_size.values()] for context in contexts]
    return Cell(f"{np.nanmean(values):.2f}") if values else Cell(NOTHING)


def _row(trial: Trial, spreads: dict[Trial, Spreads]) -> tuple[Cell, ...]:
    rivals = [found for other, found in spreads.items() if other.episodes == trial.episodes]
    usual = spreads.get(Trial(UNCHANGED, trial.episodes)) if trial.changed != UNCHANGED else None
    cells = [
        _cell(own, usual[place] if usual else None, [found[place] for found in rivals])
        for place, own in enumerate(spreads[trial])
    ]
    return Cell(trial.changed), Cell(f"{trial.episodes:,}"), *cells


def _cell(own: Spread | None, usual: Spread | None, column: list[Spread | None]) -> Cell:
    if own is None:
        return Cell(NOTHING)
    means = [spread.mean for spread in column if spread]
    best = len(means) > 1 and own.mean == max(means)
    return Cell(spread_text(own), best, f"{own.mean - usual.mean:+.2f}" if usual else "")
