"""`pc3d study --dry-run`: the jobs a study stands for, and how long they will take on this machine."""

from rich.console import Console

from pc3d.cli.display import table
from pc3d.cli.job_experiments import experiment_of
from pc3d.experiment.settings import Experiment
from pc3d.jobs.projection import project, seconds_together
from pc3d.jobs.study import Job
from pc3d.presets.paper import changes
from pc3d.runs.metrics import last_line
from pc3d.runs.run_folder import RunFolder
from pc3d.system.imports import is_import_path


def show_plan(jobs: list[Job], workers: int, console: Console) -> None:
    """Print every job, then time a few updates of each kind that is left, but for own tasks."""
    for job in jobs:
        console.print(f"{'done  ' if job.done else ''}pc3d {' '.join(job.train_words)}", soft_wrap=True)
    left = [job for job in jobs if not job.trained]
    timed = [job for job in left if not is_import_path(job.task)]
    if len(timed) < len(left):
        console.print("Runs of own tasks are not timed: how long their worlds take is not known here.")
    if not timed:
        return
    kinds = []
    with console.status("timing a few updates of each kind of run"):
        for kind in project(map(_episodes_left, timed)):
            kinds.append(kind)
            name = f"{kind.experiment.task} {kind.experiment.method} {_what(kind.experiment)}".strip()
            console.print(f"timed {name}: {_time(kind.seconds_per_run)} a run")
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
    console.print(table("", ("task", "method", "changed", "runs", "a run", "all that is left"), rows))
    console.print(
        f"About {_time(seconds_together(kinds, workers))} of training with {workers} at a time, if each has "
        "a core of its own; compiling (seconds a run) and evaluating come on top.",
        soft_wrap=True,
    )


def _episodes_left(job: Job) -> tuple[Experiment, int]:
    experiment = experiment_of(job)
    line = last_line(RunFolder(job.folder).metrics)
    return experiment, experiment.episodes - (line["episodes"] if line else 0)


def _what(experiment: Experiment) -> str:
    """What sets it apart from the usual run of its method, if anything does."""
    sizes = experiment.rosters.all
    return f"with {sizes[0]} agents" if len(sizes) == 1 else ", ".join(changes(experiment))


def _time(seconds: float) -> str:
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} s"
