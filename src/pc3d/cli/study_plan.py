"""`pc3d study --dry-run`: the jobs a study stands for, and how long they will take on this machine."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from pc3d.cli.display import as_command, table
from pc3d.cli.job_experiments import experiment_of
from pc3d.experiment.experiment import Experiment
from pc3d.jobs.projection import Kind, expected_seconds, project, seconds_together
from pc3d.jobs.study import Job
from pc3d.presets.paper import changes
from pc3d.runs.line_contract import newest_metrics
from pc3d.system.imports import is_import_path
from pc3d.system.plain import in_short


def show_plan(jobs: list[Job], workers: int, console: Console, *, calibrate: bool) -> None:
    """Print every job, then how long each kind that is left will take, but for own tasks."""
    for job in jobs:
        console.print(f"{'done  ' if job.done else ''}pc3d {as_command(job.train_words)}", soft_wrap=True)
    left = [job for job in jobs if not job.trained]
    known = [job for job in left if not is_import_path(job.task)]
    if len(known) < len(left):
        console.print("Runs of own tasks are not projected: how long their worlds take is not known here.")
    if not known:
        return
    kinds = list(_kinds(known, console)) if calibrate else list(project(_left(known), expected_seconds))
    console.print(_table(kinds))
    machine = "this machine, by a few timed updates" if calibrate else "the machine of docs/speed.md"
    console.print(
        f"About {_time(seconds_together(kinds, workers))} of training with {workers} at a time on {machine}, "
        "if each has a core of its own; compiling (seconds a run) and evaluating come on top."
        + ("" if calibrate else " --calibrate measures here instead, in minutes."),
        soft_wrap=True,
    )


def _kinds(jobs: list[Job], console: Console) -> Iterator[Kind]:
    from pc3d.jobs.calibration import measured_seconds  # with JAX behind it

    with console.status("timing a few updates of each kind of run"):
        for kind in project(_left(jobs), measured_seconds):
            name = f"{kind.experiment.task} {kind.experiment.method} {_what(kind.experiment)}".strip()
            console.print(f"timed {name}: {_time(kind.seconds_per_run)} a run")
            yield kind


def _table(kinds: list[Kind]) -> Table:
    rows = (
        (
            kind.experiment.task,
            kind.experiment.method,
            _what(kind.experiment),
            str(kind.runs),
            _time(kind.seconds_per_run),
            _time(kind.seconds_left),
        )
        for kind in kinds
    )
    return table("", ("task", "method", "changed", "runs", "a run", "all that is left"), rows)


def _left(jobs: list[Job]) -> Iterator[tuple[Experiment, int]]:
    """The experiments, each with the episodes it still has to play."""
    for job in jobs:
        experiment, line = experiment_of(job), newest_metrics(job.folder / "metrics.jsonl")
        yield experiment, max(0, experiment.episodes - (line["episodes"] if line else 0))


def _what(experiment: Experiment) -> str:
    """What sets it apart from the usual run of its method, if anything does."""
    sizes = experiment.rosters.all
    return f"with {sizes[0]} agents" if len(sizes) == 1 else in_short(changes(experiment))


def _time(seconds: float) -> str:
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} s"
