"""Whatever a reader of the numbers must know about the runs: nothing is left out in silence."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pc3d.evaluation.changing.read import read_changing
from pc3d.evaluation.less_said import read_less_said
from pc3d.evaluation.replay import has_replays
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.methods import METHODS, family
from pc3d.presets.paper import changes
from pc3d.report.changes import left_out
from pc3d.report.runs import REFERENCES_FILE, Run, Runs
from pc3d.report.tables.less_said import scored_by_other_rules
from pc3d.runs.done_file import read_done
from pc3d.system.files import LARGEST_DIGESTED, digest_of, read_bytes
from pc3d.system.plain import differences
from pc3d.tasks.registry import TASKS, papers

SHARED = ("algorithm", "actor", "recipe")  # MAPPO's heirs have them from it, and differ in the critic alone
RULES = ("actions", "rollouts", "starts_seed")


def notes(runs: Runs) -> list[str]:
    """Runs that take no part, what is missing, what was trained or scored unlike, references not found."""
    makers = (
        *(_left_out, _troubles, _missing, _half_evaluated, _outdated, _unequal_settings, _unequal_methods),
        *(_unequal_evaluations, _other_rules, _other_lengths, _other_settings, _without_references),
        _of_strangers,
    )
    return [note for make in makers for note in make(runs)]


def _left_out(runs: Runs) -> Iterator[str]:
    return map(str, runs.left_out)


def _troubles(runs: Runs) -> Iterator[str]:
    return (f"{run.name}: {run.trouble}" for run in runs.given if run.trouble)


def _missing(runs: Runs) -> Iterator[str]:
    """Seeds that other methods of the task have."""
    for task, method, of_method in runs.by_method:
        lacking = sorted(_seeds(runs.of(task)) - _seeds(of_method))
        if lacking:
            yield f"{task} {method}: no run of seed {', '.join(map(str, lacking))}"


def _seeds(runs: list[Run]) -> set[int]:
    return {run.experiment.seed for run in runs}


def _half_evaluated(runs: Runs) -> Iterator[str]:
    """Runs with scores that lack what evaluation writes beside them."""
    for run in runs.all:
        if not run.folder.done or run.scores is None:
            continue
        method = METHODS.get(run.experiment.method)
        lacking = []
        if method is not None and method.has_context and not run.context_file.exists():
            lacking.append(run.context_file.name)
        done = read_done(run.folder.path)  # a record has the replays that it was asked to keep
        if has_replays(run.experiment.task) and not (done and done.recorded) and not run.replays:
            lacking.append("replays")
        if lacking:
            yield f"{run.name}: no {' and no '.join(lacking)}: {run.evaluate_command}"


def _outdated(runs: Runs) -> Iterator[str]:
    """Runs whose scores are of another policy than the one that lies in the folder now."""
    for run in runs.given:
        scored, there = run.evaluation.get("policy_sha256"), _digest_of_policy(run)
        if scored and there and scored != there:
            yield f"{run.name}: its scores are of another final.safetensors: {run.evaluate_command}"
        for file in read_changing(run.folder.path):
            if file.policy and there and file.policy != there:
                again = "evaluate it again with --roster as before"
                yield f"{run.name}: {file.path.name} is of another final.safetensors: {again}"
        for less in read_less_said(run.folder.path):
            if there and less.policy != there:
                again = f"evaluate it again with {less.asked_for}"
                yield f"{run.name}: {less.path.name} is of another final.safetensors: {again}"


def _digest_of_policy(run: Run) -> str | None:
    """As training left it, also where a record has left it behind."""
    finished, final = read_done(run.folder.path), run.folder.final
    if finished and final.name in finished.trained:
        return finished.trained[final.name]
    return digest_of(read_bytes(final, LARGEST_DIGESTED)) if final.exists() else None


def _unequal_settings(runs: Runs) -> Iterator[str]:
    """Methods whose seeds were not trained alike."""
    for task, method, of_method in runs.by_method:
        first, *others = (replace(run.experiment, seed=0) for run in of_method)
        if changed := _joined(differences(first, other) for other in others):
            yield f"{task} {method}: its seeds differ in more than the seed ({changed})"


def _unequal_methods(runs: Runs) -> Iterator[str]:
    """Methods that should share MAPPO's settings, by the paper's parameter chaining, and do not."""
    for task in runs.tasks:
        usual, *chained = [method for method in runs.methods(task) if method in family("mappo")] or [""]
        for method in chained:
            first = runs.of(task, usual)[0].experiment
            if changed := _joined(_in_the_shared(first, run.experiment) for run in runs.of(task, method)):
                yield f"{task}: {method} does not share the settings of {usual} ({changed})"


def _in_the_shared(one: Experiment, other: Experiment) -> list[str]:
    """Where two experiments differ in what MAPPO's heirs share: not an algorithm of their own."""
    one, other = (replace(each, recipe=each.recipe.without_contexts()) for each in (one, other))
    own = type(one.algorithm) is not type(other.algorithm)
    shared = [part for part in SHARED if not (own and part == "algorithm")]
    return differences(one, replace(one, **{part: getattr(other, part) for part in shared}))


def _unequal_evaluations(runs: Runs) -> Iterator[str]:
    """Tasks whose runs were not evaluated by the same rules."""
    for task in runs.tasks:
        for rule in RULES:
            found = sorted({str(run.evaluation.get(rule)) for run in runs.of(task) if run.evaluation})
            if len(found) > 1:
                yield f"{task}: its runs were evaluated with different {rule}: {' and '.join(found)}"


def _other_rules(runs: Runs) -> Iterator[str]:
    """Teams that change, and teams that hear less, played unlike those of the other runs."""
    for task in runs.tasks:
        yield from left_out(runs, task)
        for less in scored_by_other_rules(runs, task):
            yield (
                f"{less.path}: in no table: played by other rules than most (--rollouts, --actions or "
                "the game's own); evaluate it again"
            )


def _other_lengths(runs: Runs) -> Iterator[str]:
    """Tasks whose runs are longer or shorter than the paper's, whose numbers stand beside them."""
    for task in runs.tasks:
        paper = f"{papers()[task].episodes:,}" if task in papers() else None
        if paper is not None and runs.lengths(task) != [paper]:
            ours = " or ".join(runs.lengths(task))
            yield f"{task}: trained for {ours} episodes, the paper's runs for {paper}"


def _other_settings(runs: Runs) -> Iterator[str]:
    """Methods with other settings than the paper's, but for their length, which has a note of its own."""
    for task, method, of_method in runs.by_method:
        known = task in papers() and method in METHODS
        if known and (changed := _joined(changes(run.experiment) for run in of_method)):
            yield f"{task} {method}: not trained with the paper's settings ({changed})"


def _joined(several: Iterable[Iterable[str]]) -> str:
    """Each change once, in order."""
    return "; ".join(sorted({change for changed in several for change in changed}))


def _without_references(runs: Runs) -> Iterator[str]:
    for task in runs.tasks:
        if runs.reference_range(task) is None and task in TASKS:  # of own tasks only a random player is known
            yield (
                f"{task}: no normalised statistics, for want of a {REFERENCES_FILE} with the same definition "
                "of the return, a random player, and a better one at every size "
                f"(pc3d evaluate --references {task} --out DIR)"
            )


def _of_strangers(runs: Runs) -> Iterator[str]:
    """Files of references that no table can have."""
    return (f"{file}: in no table: there is no run of {task} here" for file, task in runs.strangers.items())
