"""What a report consists of, in the order it is read: each section is made when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pc3d.report.figures.boxes import return_boxes
from pc3d.report.figures.context_maps import alignment_over_time, context_map
from pc3d.report.figures.curves import learning_curves, stage_curves
from pc3d.report.figures.pictures import benchmark_pictures
from pc3d.report.figures.style import Figure
from pc3d.report.names import file_name, method_title
from pc3d.report.notes import notes
from pc3d.report.runs import Runs
from pc3d.report.tables.claims import claims_table
from pc3d.report.tables.clock import clock_table
from pc3d.report.tables.collisions import collision_table
from pc3d.report.tables.context import gate_table, recovery_table
from pc3d.report.tables.differences import difference_table, size_difference_table
from pc3d.report.tables.originals import originals_table
from pc3d.report.tables.results import ABLATIONS, HYPERNETWORK, MAIN_RESULTS, Kind, result_table
from pc3d.report.tables.specialists import specialist_figure, specialist_table, specialist_tasks
from pc3d.report.tables.statistics import statistics_table
from pc3d.report.tables.table import Table
from pc3d.report.tables.training import training_table
from pc3d.report.tables.trials import trial_tables

Item = TypeVar("Item")


@dataclass(frozen=True)
class Section:
    """A heading with what belongs under it; paragraphs of the text are divided by blank lines."""

    heading: str
    text: str = ""
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()


def results(runs: Runs) -> Section:
    by_task = [
        make(runs, task)
        for task in runs.tasks
        for make in (difference_table, size_difference_table, statistics_table)
    ]
    overall = (result_table(MAIN_RESULTS, runs), claims_table(runs))
    return Section("Results", "", _present(*overall, *by_task, collision_table(runs)))


def team_sizes(runs: Runs) -> Section:
    methods = MAIN_RESULTS.methods(runs)
    boxes = [return_boxes(runs, task, methods, file_name("boxes", task)) for task in runs.tasks]
    return Section("Returns by team size", figures=_present(*boxes))


def training(runs: Runs) -> Section:
    methods = MAIN_RESULTS.methods(runs)
    figures = [
        draw(runs, task, methods, file_name(name, task))
        for task in runs.tasks
        for name, draw in (("curves", learning_curves), ("stages", stage_curves))
    ]
    return Section(
        "Training", "", _present(*(training_table(runs, task) for task in runs.tasks)), _present(*figures)
    )


def ablations(runs: Runs) -> Section:
    return _comparison(runs, "Ablations", ABLATIONS)


def hypernetwork(runs: Runs) -> Section:
    return _comparison(runs, "Conditioning by a hypernetwork", HYPERNETWORK)


def context(runs: Runs) -> Section:
    figures = [
        draw(runs, task, file_name(name, task))
        for task in runs.tasks
        for name, draw in (("context", context_map), ("alignment", alignment_over_time))
    ]
    tables = _present(*(make(runs, task) for task in runs.tasks for make in (recovery_table, gate_table)))
    text = "" if tables else "No run with a context has been evaluated."
    return Section("Context recovery and use", text, tables, _present(*figures))


def specialists(runs: Runs) -> Section:
    tasks = specialist_tasks(runs)
    text = "" if tasks else "No runs for one team size alone were given."
    tables = _present(*(specialist_table(runs, task) for task in tasks))
    figures = _present(*(specialist_figure(runs, task, file_name("specialists", task)) for task in tasks))
    return Section("One policy for all sizes against specialists", text, tables, figures)


def trials(runs: Runs) -> Section:
    tables = trial_tables(runs)
    return Section("Settings that were tried", "" if tables else "No such runs were given.", tables)


def originals(runs: Runs) -> Section:
    tables = _present(*(originals_table(runs, task) for task in runs.tasks))
    text = "" if tables else "No run was scored on the original packages (pc3d evaluate --backend original)."
    return Section("The same policies on the original packages", text, tables)


def resources(runs: Runs) -> Section:
    return Section("Wall-clock time", tables=_present(clock_table(runs)))


def benchmarks(runs: Runs) -> Section:
    figures = _present(benchmark_pictures(runs, runs.tasks, "benchmarks"))
    return Section(
        "Benchmarks", "" if figures else "Only the tasks that come with pc3d are pictured.", (), figures
    )


def about_the_runs(runs: Runs) -> Section:
    used = sum(run.trouble is None for run in runs.given)
    text = [
        f"{len(runs.given)} runs were given; {used} of them are finished and evaluated at every team size."
    ]
    return Section("The runs", "\n\n".join(text + notes(runs)))


SECTIONS: tuple[Callable[[Runs], Section], ...] = (
    results,
    team_sizes,
    training,
    ablations,
    context,
    hypernetwork,
    specialists,
    originals,
    trials,
    resources,
    benchmarks,
    about_the_runs,
)


def _comparison(runs: Runs, heading: str, kind: Kind) -> Section:
    """A table with the boxes and curves of its methods, or the words that there is nothing to compare."""
    methods, tasks = kind.methods(runs), kind.tasks(runs)
    if not tasks:
        absent = ", ".join(method_title(method) for method in methods if method != "pc3d")
        return Section(heading, f"No runs of {absent} were given.")
    figures = [
        draw(runs, task, methods, file_name(f"{kind.name}-{name}", task))
        for task in tasks
        for name, draw in (("boxes", return_boxes), ("curves", learning_curves), ("stages", stage_curves))
    ]
    return Section(heading, "", _present(result_table(kind, runs)), _present(*figures))


def _present(*items: Item | None) -> tuple[Item, ...]:
    """Without those for which there was no data."""
    return tuple(item for item in items if item is not None)
