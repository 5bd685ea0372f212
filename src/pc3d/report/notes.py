"""Whatever a reader of the numbers must know about the runs: nothing is left out in silence."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from pc3d.evaluation.replay import has_replays
from pc3d.experiment.methods import METHODS, family
from pc3d.experiment.settings import Experiment
from pc3d.presets.paper import changes
from pc3d.report.runs import CONTEXT_FILE, REFERENCES_FILE, Runs
from pc3d.system.plain import differences
from pc3d.tasks.registry import TASKS, papers

SHARED = ("algorithm", "actor", "recipe")  # MAPPO's heirs have them from it, and differ in the critic alone


def notes(runs: Runs) -> list[str]:
    """Runs that take no part, what is missing, what was trained or scored unlike, references not found."""
    troubles = [f"{run.name}: {run.trouble}" for run in runs.given if run.trouble]
    makers = (
        _missing,
        _half_evaluated,
        _outdated,
        _unequal_settings,
        _unequal_methods,
        _unequal_evaluations,
        _other_lengths,
        _other_settings,
        _without_references,
    )
    return troubles + [note for make in makers for note in make(runs)]


def _missing(runs: Runs) -> list[str]:
    """Seeds that other methods of the task have."""
    notes = []
    for task in runs.tasks:
        seeds = {run.experiment.seed for run in runs.all if run.experiment.task == task}
        for method in runs.methods(task):
            lacking = sorted(seeds - {run.experiment.seed for run in runs.of(task, method)})
            if lacking:
                notes.append(f"{task} {method}: no run of seed {', '.join(map(str, lacking))}")
    return notes


def _half_evaluated(runs: Runs) -> list[str]:
    """Runs with scores that lack what evaluation writes beside them."""
    notes = []
    for run in runs.all:
        if not run.folder.done or run.scores is None:
            continue
        method = METHODS.get(run.experiment.method)
        lacking = []
        if method is not None and method.has_context and not run.context_file.exists():
            lacking.append(CONTEXT_FILE)
        # A recorded run may have left its policy behind, and its replays with it.
        if has_replays(run.experiment.task) and run.folder.final.exists() and not run.replays:
            lacking.append("replays")
        if lacking:
            notes.append(f"{run.name}: no {' and no '.join(lacking)}: pc3d evaluate {run.folder.path}")
    return notes


def _unequal_settings(runs: Runs) -> list[str]:
    """Methods whose seeds were not trained alike."""
    notes = []
    for task in runs.tasks:
        for method in runs.methods(task):
            first, *others = (replace(run.experiment, seed=0) for run in runs.of(task, method))
            changed = sorted({change for other in others for change in differences(first, other)})
            if changed:
                notes.append(
                    f"{task} {method}: its seeds differ in more than the seed ({'; '.join(changed)})"
                )
    return notes


def _unequal_methods(runs: Runs) -> list[str]:
    """Methods that should share MAPPO's settings, by the paper's parameter chaining, and do not."""
    notes = []
    for task in runs.tasks:
        chained = [method for method in runs.methods(task) if method in family("mappo")]
        for method in chained[1:]:
            first = runs.of(task, chained[0])[0].experiment
            changed = sorted(
                {
                    change
                    for run in runs.of(task, method)
                    for part in SHARED
                    for change in _differences(first, run.experiment, part)
                }
            )
            if changed:
                notes.append(
                    f"{task}: {method} does not share the settings of {chained[0]} ({'; '.join(changed)})"
                )
    return notes


def _differences(one: Experiment, other: Experiment, part: str) -> list[str]:
    ours, theirs = getattr(one, part), getattr(other, part)
    return differences(ours, theirs, getattr(type(ours), "section", part))


def _outdated(runs: Runs) -> list[str]:
    """Runs whose scores are of another policy than the one that lies in the folder now."""
    return [
        f"{run.name}: its scores are of another final.safetensors: pc3d evaluate {run.folder.path}"
        for run in runs.given
        if run.folder.final.exists()
        and run.evaluation.get("policy_sha256", "")
        not in ("", sha256(run.folder.final.read_bytes()).hexdigest())
    ]


def _unequal_evaluations(runs: Runs) -> list[str]:
    """Tasks whose runs were not evaluated by the same rules."""
    notes = []
    for task in runs.tasks:
        scored = [run for run in runs.all if run.experiment.task == task and run.evaluation]
        for rule in ("actions", "rollouts", "starts_seed"):
            found = sorted({str(run.evaluation.get(rule)) for run in scored})
            if len(found) > 1:
                notes.append(f"{task}: its runs were evaluated with different {rule}: {' and '.join(found)}")
    return notes


def _other_lengths(runs: Runs) -> list[str]:
    """Tasks whose runs are longer or shorter than the paper's, whose numbers stand beside them."""
    notes = []
    for task in runs.tasks:
        lengths = sorted({run.experiment.episodes for run in runs.all if run.experiment.task == task})
        paper = papers().get(task)
        if paper is not None and lengths != [paper.episodes]:
            ours = " or ".join(f"{length:,}" for length in lengths)
            notes.append(f"{task}: trained for {ours} episodes, the paper's runs for {paper.episodes:,}")
    return notes


def _other_settings(runs: Runs) -> list[str]:
    """Methods with other settings than the paper's, but for their length, which has a note of its own."""
    notes = []
    for task in runs.tasks:
        for method in runs.methods(task):
            if task not in papers() or method not in METHODS:
                continue
            changed = sorted({change for run in runs.of(task, method) for change in changes(run.experiment)})
            if changed:
                notes.append(f"{task} {method}: not trained with the paper's settings ({'; '.join(changed)})")
    return notes


def _without_references(runs: Runs) -> list[str]:
    return [
        f"{task}: no normalised statistics, for want of a {REFERENCES_FILE} with the same definition of "
        "the return, a random player, and a better one at every size "
        f"(pc3d evaluate --references {task} --out DIR)"
        for task in runs.tasks
        if runs.reference_range(task) is None and task in TASKS  # of own tasks only a random player is known
    ]
