"""`pc3d record RUNS... --out results`: keep finished runs as small results for reports and studies."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.progress import track

from pc3d.cli.in_help import Names
from pc3d.experiment.experiment import LARGEST_SEED
from pc3d.experiment.methods import METHODS
from pc3d.report.record import LINES_OF_A_TRIAL, LINES_PER_STAGE, record_run
from pc3d.report.runs import Run, Runs, find_runs
from pc3d.runs.run_folder import RunFolder
from pc3d.system.bounds import within
from pc3d.system.errors import BadInput, refuse_unknown
from pc3d.system.files import explained, one_owner, refuse_links_between
from pc3d.system.imports import folder_name
from pc3d.system.plain import amount, differences

ALL = "all"


@dataclass(frozen=True)
class Command:
    runs: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Folders that hold runs, at any depth."""
    out: Path = Path("results")
    """Where each run's record goes: below TASK/METHOD, as in the folder of a study."""
    policies: Names = (ALL,)
    """Methods whose policy for all sizes is kept, for one seed of each task; all: of every method."""
    policies_seed: int = 0
    """Which seed that is."""
    replays: Names = ("mappo", "pc3d")
    """Those of them whose replays are kept, too: the report's page holds them all."""


def run(command: Command) -> int:
    if not command.runs:
        raise BadInput("usage: pc3d record RUNS... --out DIR; RUNS are folders that hold runs")
    found = find_runs(command.runs)
    _refuse_unknown_methods(found, (*command.policies, *command.replays))
    within("the seed of policies", command.policies_seed, 0, LARGEST_SEED)
    ready = [one for one in found.given if one.trouble is None]
    places = places_for(ready, command.out)
    if places:
        _record(places, found, command)
    for one in found.given:
        if one.trouble is not None:
            print(f"pc3d: not recorded: {one.name}: {one.trouble}", file=sys.stderr)
    print(f"{amount(len(ready), 'run')} {'is' if len(ready) == 1 else 'are'} recorded in {command.out}")
    return 0


def _refuse_unknown_methods(found: Runs, asked: tuple[str, ...]) -> None:
    """A slip of the pen would keep nothing, and say nothing; own methods are known by their runs."""
    known = dict.fromkeys((ALL, *METHODS, *found.methods(*found.tasks)))
    for method in asked:
        refuse_unknown("method", method, known)


def _record(places: dict[Path, Run], found: Runs, command: Command) -> None:
    with explained(f"writing to {command.out}"):
        command.out.mkdir(parents=True, exist_ok=True)
        with one_owner(command.out):  # two would take away what the other has half written
            for place, one in track(
                places.items(), "recording", transient=True, disable=not sys.stdout.isatty()
            ):
                kept = one in found.all and one.experiment.seed == command.policies_seed
                with_policy, with_replays = (
                    kept and (ALL in methods or one.experiment.method in methods)
                    for methods in (command.policies, command.replays)
                )
                record_run(
                    one.folder,
                    place,
                    with_policy=with_policy,
                    with_replays=with_policy and with_replays,
                    lines_per_stage=LINES_OF_A_TRIAL if one.is_trial else LINES_PER_STAGE,
                )


def places_for(runs: list[Run], out: Path) -> dict[Path, Run]:
    """Where each goes; refused, before anything is written, is the place of another experiment's record."""
    taken: dict[Path, Run] = {}
    for one in runs:
        place = out / place_of(one)
        other = taken.setdefault(place, one)
        if other is not one:
            raise BadInput(f"{other.folder.path} and {one.folder.path} would both be recorded as {place}")
        run = one.folder.path.resolve()
        if place.resolve() == run:
            raise BadInput(f"{place} is a record itself: name the folder of the runs, or another --out")
        if place.resolve().is_relative_to(run):
            raise BadInput(f"{place} lies in the run {one.folder.path} itself: give another --out")
        refuse_links_between(out, place)
        there = (place / "experiment.json").exists()
        if there and (changed := differences(RunFolder(place).experiment(), one.experiment)):
            raise BadInput(
                f"{place} is the record of another experiment than {one.folder.path} ({changed[0]}): "
                "give another --out, or remove it first"
            )
    return taken


def place_of(one: Run) -> Path:
    """Where a study of the same name would have put it."""
    experiment, part = one.experiment, ""
    if one.is_trial:  # what makes it different is the name of its folder, if it has one
        name = one.folder.path.resolve().parent.name
        part = "" if name == folder_name(experiment.method) else name
    elif len(experiment.rosters.all) == 1:
        part = f"size-{experiment.rosters.largest}"
    names = (folder_name(name) for name in (experiment.task, experiment.method))
    return Path(*names, part, f"seed-{experiment.seed}")
