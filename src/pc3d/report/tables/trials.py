"""What each setting that was tried gave, beside the settings as they are: never at test sizes."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from pc3d.experiment.experiment import Experiment
from pc3d.presets.paper import changes, sealed, usual_experiment
from pc3d.report.names import heading, method_title
from pc3d.report.runs import Run, Runs
from pc3d.report.statistics import Spread
from pc3d.report.tables.context import RECOVERY, Context, read_contexts
from pc3d.report.tables.results import reference_text, reference_title, spread_cell, spread_of_sizes
from pc3d.report.tables.table import NOTHING, Row, Table, make_table
from pc3d.system.plain import differences

SPLITS = ("train", "validation")
OF_RECOVERY = " How the context is recovered and used: means over all sizes of both splits."


@dataclass(frozen=True, order=True)
class Trial:
    """How long was trained, and what was changed, if anything: its runs differ in the seed alone."""

    episodes: int
    changed: str = ""


Spreads = dict[str, Spread | None]  # by split; none where a task has no sizes of it


def trial_tables(runs: Runs) -> list[Table | None]:
    """One table for each task and method with trials."""
    tried = complete_trials(runs)
    return [_table(tried, *of_method) for of_method in tried.by_method]


def complete_trials(runs: Runs) -> Runs:
    """The runs that tried settings out, as runs of their own."""
    return Runs(tuple(run for run in runs.trials if run.complete), runs.references)


def _table(runs: Runs, task: str, method: str, tried: list[Run]) -> Table | None:
    centre = _centre([run.experiment for run in tried])
    shared = changes(centre)
    by_trial: dict[Trial, list[Run]] = defaultdict(list)
    for run in tried:
        own = differences(centre, _of_one_length(run.experiment))
        by_trial[Trial(run.experiment.episodes, _as_typed(own))].append(run)
    found = {trial: Runs(tuple(by_trial[trial]), runs.references) for trial in sorted(by_trial)}
    spreads = {
        trial: {split: spread_of_sizes(seeds, task, method, seeds.sizes(task, split)) for split in SPLITS}
        for trial, seeds in found.items()
    }
    contexts = {trial: read_contexts(seeds.all) for trial, seeds in found.items()}
    recovery = RECOVERY if any(contexts.values()) else {}
    rows = [
        (*_cells(trial, spreads), *(_recovery(contexts[trial], name) for name in recovery))
        for trial in spreads
    ]
    chance = [(*row, *[NOTHING] * len(recovery)) for row in _random_rows(runs, task, tried)]
    words = heading(
        "trials",
        task,
        name=f"trials-{method}",
        method=method_title(method),
        of_recovery=OF_RECOVERY if recovery else "",
        shared=f" Unless a row says otherwise: {_as_typed(shared)}." if shared else "",
    )
    return make_table(words, ("Changed", "episodes", *SPLITS, *recovery.values()), rows + chance)


def _centre(tried: list[Experiment]) -> Experiment:
    """What "as it is" means: the usual settings where they were tried, else what rows differ from least."""
    alike = [_of_one_length(experiment) for experiment in tried]
    usual = sealed(usual_experiment(alike[0]))
    if usual in alike:
        return usual
    return min((usual, *alike), key=lambda one: sum(len(differences(one, other)) for other in alike))


def _of_one_length(experiment: Experiment) -> Experiment:
    return replace(experiment, seed=0, episodes=1000)  # neither is a setting that was tried


def _random_rows(runs: Runs, task: str, tried: list[Run]) -> list[Row]:
    """What chance alone returns."""
    if "random" not in runs.references.get(task, {}):
        return []
    return [
        (
            reference_title("random"),
            NOTHING,
            *(reference_text(runs, "random", task, getattr(rosters, split)) for split in SPLITS),
        )
        for rosters in dict.fromkeys(run.experiment.rosters for run in tried)
    ]


def _as_typed(changed: Iterable[str]) -> str:
    """Changes with the names of settings as on the command line."""
    parts = (change.partition(":") for change in changed)
    return ", ".join(f"{name.replace('_', '-')}:{values}" for name, _, values in parts)


def _recovery(contexts: list[Context], name: str) -> str:
    values = [[size[name] for size in context.by_size.values()] for context in contexts]
    return f"{np.nanmean(values):.2f}" if values else NOTHING


def _cells(trial: Trial, spreads: dict[Trial, Spreads]) -> Row:
    rivals = [found for other, found in spreads.items() if other.episodes == trial.episodes]
    usual = spreads.get(Trial(trial.episodes), {}) if trial.changed else {}
    cells = []
    for split, own in spreads[trial].items():
        unchanged = usual.get(split)
        gain = f"{own.mean - unchanged.mean:+.2f}" if own and unchanged else ""
        cells.append(spread_cell(own, [rival[split] for rival in rivals], gain))
    return trial.changed or "as it is", f"{trial.episodes:,}", *cells
