"""`pc3d study NAME|FILE`: many runs, done once each, whatever happens in between."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.table import Table

from pc3d.cli.display import LiveDisplay, Terminal, table
from pc3d.cli.extensions import admit_method, named_extensions
from pc3d.cli.in_help import Folder, Names, OwnCodes
from pc3d.cli.job_experiments import experiment_of
from pc3d.experiment.experiment import Experiment
from pc3d.jobs.local import ThisMachine
from pc3d.jobs.loop import Progress, State, Workforce, run_jobs
from pc3d.jobs.study import Job, load_study, with_only
from pc3d.runs.line_contract import newest_metrics
from pc3d.runs.run_folder import RunFolder
from pc3d.system.errors import BadInput, MissingExtra
from pc3d.system.imports import is_import_path
from pc3d.system.plain import amount, differences, in_short
from pc3d.system.processes import run_command

ROWS = 30  # of the live table: what runs, then what waits


@dataclass(frozen=True)
class Command:
    study: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME|FILE")]
    """A study that comes with pc3d (paper, spread, quick, ...: docs/studies.md), or a file of your own."""
    folder: Folder = None
    """Where the runs and the report go; runs/studies/NAME if not given."""
    workers: int = os.cpu_count() or 1
    """Runs at a time, each with one thread."""
    ray: Annotated[str | None, tyro.conf.arg(metavar="HOST:PORT")] = None
    """HOST:PORT of a running Ray cluster: its nodes do the jobs, one on each CPU, instead of this machine."""
    task: OwnCodes = ()
    """The study's own tasks, named again: no file makes us run their code."""
    method: OwnCodes = ()
    """The study's own methods, named again, for the same reason."""
    only: Names = ()
    """Only these tasks and methods."""
    recorded: Path = Path("results")
    """Where runs were recorded (pc3d record): those of the very same experiment count as done."""
    dry_run: bool = False
    """Print the jobs and about how long they will take, and do nothing else."""
    calibrate: bool = False
    """With --dry-run: time a few updates of each kind of run on this machine, which takes minutes."""


def run(command: Command) -> int:
    if command.workers < 1:
        raise BadInput(f"a study needs at least 1 worker, not {command.workers}")
    for path in command.method:
        admit_method(path)
    study = with_only(load_study(command.study), command.only)
    folder = command.folder or Path("runs", "studies", Path(command.study).stem)
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder} is no folder: give another --folder")
    jobs = study.jobs(folder)
    refuse_unnamed_code(jobs, command)
    refuse_equal_experiments(jobs)
    jobs = with_records(jobs, folder, command.recorded)
    console = Terminal(file=sys.stdout)  # the real one, also while a cluster's noise is kept from it
    done = sum(job.done for job in jobs)
    console.print(f"{study.about}\n{amount(len(jobs), 'job')}, {done} of them done.", highlight=False)
    if command.dry_run:
        from pc3d.cli.study_plan import show_plan

        show_plan(jobs, command.workers, console, calibrate=command.calibrate)
        return 0
    refuse_other_experiments(jobs)
    with Display(console) as display, workforce_for(command, console) as workforce:
        progress = run_jobs(jobs, workforce, display.show)
    failed = [one for one in progress if one.state is State.FAILED]
    for one in failed:
        print(f"pc3d: {one.job.name} failed: {one.error}", file=sys.stderr)
    if len(failed) < len(progress):
        records = [str(job.folder) for job in jobs if not job.folder.is_relative_to(folder)]
        own = [str(folder)] if folder.is_dir() else []
        run_command(["report", *own, *records, "--out", str(folder / "report")])
    return 1 if failed else 0


@contextmanager
def workforce_for(command: Command, console: Console) -> Iterator[Workforce]:
    if command.ray is None:
        yield ThisMachine(command.workers)
        return
    try:
        from pc3d.jobs.cluster.cluster import cluster_at
    except ModuleNotFoundError:
        raise MissingExtra("ray", "cluster") from None
    with cluster_at(command.ray, lambda sentence: console.print(sentence, soft_wrap=True)) as cluster:
        yield cluster


def refuse_unnamed_code(jobs: list[Job], command: Command) -> None:
    """A study file may name an own task, but only the user's word lets its code run."""
    own = {job.task for job in jobs if is_import_path(job.task)}
    for task in sorted(own.difference(command.task)):
        raise BadInput(
            f"this study plays {task}, and no file may make pc3d run that code: "
            f"if you trust it, name it with --task {task}"
        )
    for task in sorted(set(command.task) - own):
        raise BadInput(f"this study has no own task called {task}")
    kind = "methods" if named_extensions() else "tasks" if own else ""
    if kind and command.ray:
        raise BadInput(f"own {kind} are studied on one machine: a cluster's nodes need not have their code")


def refuse_equal_experiments(jobs: list[Job]) -> None:
    """No run twice under two names; and words that `pc3d train` does not know are noticed at once."""
    seen: dict[Experiment, Job] = {}
    for job in jobs:
        same = seen.setdefault(experiment_of(job), job)
        if same is not job:
            raise BadInput(f"{same.name} and {job.name} of this study are the same run: leave one out")


def with_records(jobs: list[Job], folder: Path, recorded: Path) -> list[Job]:
    """A job whose run is recorded, and not begun in the study's folder, is the one that is recorded."""
    records = [replace(job, folder=recorded / job.folder.relative_to(folder)) for job in jobs]
    return [
        record if record.done and not job.folder.exists() and not differences_from(record) else job
        for job, record in zip(jobs, records, strict=True)
    ]


def differences_from(job: Job) -> list[str]:
    """In what the run that lies in a job's folder, whole, differs from the one the job asks for."""
    run = RunFolder(job.folder)
    run.check_whole()
    return differences(run.experiment(), experiment_of(job)) if run.experiment_file.exists() else []


def refuse_other_experiments(jobs: list[Job]) -> None:
    """A run that is there must be the one this study asks for: an edited file must not reuse old results."""
    for job in jobs:
        if job.folder.exists() and (changed := differences_from(job)):
            raise BadInput(
                f"{job.folder} holds another experiment than this study asks for "
                f"({in_short(changed)}): use another --folder"
            )


class Display(LiveDisplay):
    """A table of all jobs, redrawn in a terminal; elsewhere a line whenever a job changes its state."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self.began: dict[str, tuple[float, float]] = {}

    def show(self, progress: list[Progress]) -> None:
        if self.draw(lambda: self.table(progress)):
            return
        for one in progress:
            self.tell(one.job.name, one.state.value)

    def table(self, progress: list[Progress]) -> Table:
        done = sum(one.state is State.DONE for one in progress)
        order = [State.TRAINING, State.EVALUATING, State.FAILED, State.WAITING, State.DONE]
        shown = sorted(progress, key=lambda one: order.index(one.state))[:ROWS]
        rows = ((one.job.name, one.state.value, *self.advance(one)) for one in shown)
        title = f"{done} of {amount(len(progress), 'job')} done"
        return table(title, ("job", "state", "episodes", "time left"), rows)

    def advance(self, one: Progress) -> tuple[str, str]:
        """Episodes so far and the time left, while a job trains."""
        if one.state is not State.TRAINING:
            return "", ""
        try:
            line = newest_metrics(one.job.folder / "metrics.jsonl")
        except BadInput:  # its own process will say so
            return "?", ""
        if line is None:
            return "compiling", ""
        episodes, now = line["episodes"], time.monotonic()
        first_episodes, since = self.began.setdefault(one.job.name, (episodes, now))
        speed = (episodes - first_episodes) / (now - since) if now > since else 0.0
        total = experiment_of(one.job).episodes
        left = f"{(total - episodes) / speed / 60:.0f} min" if speed else ""
        return f"{episodes:,} of {total:,}", left
