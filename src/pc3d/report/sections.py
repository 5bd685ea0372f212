"""What a report consists of, in the order it is read: each section is made when it is asked for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from pc3d.report.figures.boxes import return_boxes
from pc3d.report.figures.context_maps import alignment_over_time, context_map
from pc3d.report.figures.curves import learning_curves, stage_curves
from pc3d.report.figures.pictures import benchmark_pictures
from pc3d.report.figures.style import Figure
from pc3d.report.names import method_title
from pc3d.report.notes import notes
from pc3d.report.runs import Runs
from pc3d.report.tables.collisions import collision_table
from pc3d.report.tables.comparisons import claims_table, difference_table, size_difference_table
from pc3d.report.tables.context import gate_table, recovery_table, teacher_table
from pc3d.report.tables.large_teams import large_team_figure, large_team_table
from pc3d.report.tables.mixes import mix_table, tasks_with_mixes
from pc3d.report.tables.originals import originals_table
from pc3d.report.tables.results import ABLATIONS, HYPERNETWORK, MAIN_RESULTS, Kind, result_table
from pc3d.report.tables.specialists import specialist_figure, specialist_runs, specialist_table
from pc3d.report.tables.statistics import statistics_table
from pc3d.report.tables.table import Table
from pc3d.report.tables.training import clock_table, training_table
from pc3d.report.tables.trials import trial_tables


@dataclass(frozen=True)
class Section:
    """A heading with what belongs under it; paragraphs of the text are divided by blank lines."""

    heading: str
    text: str = ""
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()


def section(
    heading: str,
    tables: Iterable[Table | None] = (),
    figures: Iterable[Figure | None] = (),
    *,
    otherwise: str = "",
) -> Section:
    """Whatever tables and figures there was data for, or else some words."""
    found = tuple(table for table in tables if table), tuple(figure for figure in figures if figure)
    return Section(heading, "" if any(found) else otherwise, *found)


def results(runs: Runs) -> Section:
    makers = (difference_table, size_difference_table, statistics_table)
    by_task = [make(runs, task) for task in runs.tasks for make in makers]
    overall = [result_table(MAIN_RESULTS, runs), claims_table(runs)]
    return section("Results", [*overall, *by_task, collision_table(runs)])


def team_sizes(runs: Runs) -> Section:
    methods = MAIN_RESULTS.methods(runs)
    return section("Returns by team size", (), [return_boxes(runs, task, methods) for task in runs.tasks])


def training(runs: Runs) -> Section:
    methods, makers = MAIN_RESULTS.methods(runs), (learning_curves, stage_curves)
    figures = [make(runs, task, methods) for task in runs.tasks for make in makers]
    return section("Training", [training_table(runs, task) for task in runs.tasks], figures)


def comparison(heading: str, kind: Kind, runs: Runs) -> Section:
    """A table with the boxes and curves of its methods, or the words that there is nothing to compare."""
    methods, makers = kind.methods(runs), (return_boxes, learning_curves, stage_curves)
    figures = [make(runs, task, methods, f"{kind.name}-") for task in kind.tasks(runs) for make in makers]
    absent = ", ".join(method_title(method) for method in methods if method != "pc3d")
    table = result_table(kind, runs)
    return section(heading, [table], figures, otherwise=f"No runs of {absent} were given.")


def context(runs: Runs) -> Section:
    tables = [make(runs, task) for task in runs.tasks for make in (recovery_table, teacher_table, gate_table)]
    figures = [make(runs, task) for task in runs.tasks for make in (context_map, alignment_over_time)]
    words = "No run with a context has been evaluated."
    return section("Context recovery and use", tables, figures, otherwise=words)


def specialists(runs: Runs) -> Section:
    tasks = specialist_runs(runs).tasks
    tables = [specialist_table(runs, task) for task in tasks]
    figures = [specialist_figure(runs, task) for task in tasks]
    words = "No runs for one team size alone were given."
    return section("One policy for all sizes against specialists", tables, figures, otherwise=words)


def originals(runs: Runs) -> Section:
    words = "No run was scored on the original packages (pc3d evaluate --backend original)."
    tables = [originals_table(runs, task) for task in runs.tasks]
    return section("The same policies on the original packages", tables, otherwise=words)


def large_teams(runs: Runs) -> Section:
    words = "No run was scored with large teams (pc3d evaluate --world scaled)."
    tables = [large_team_table(runs, task) for task in runs.tasks]
    figures = [large_team_figure(runs, task) for task in runs.tasks]
    return section("Large teams", tables, figures, otherwise=words)


def unlike_agents(runs: Runs) -> Section:
    words = "No run was scored with unlike agents (pc3d evaluate --mix all)."
    return section(
        "Unlike agents", [mix_table(runs, task) for task in tasks_with_mixes(runs)], otherwise=words
    )


def trials(runs: Runs) -> Section:
    return section("Settings that were tried", trial_tables(runs), otherwise="No such runs were given.")


def resources(runs: Runs) -> Section:
    return section("Wall-clock time", [clock_table(runs)])


def benchmarks(runs: Runs) -> Section:
    words = "Only the tasks that come with pc3d are pictured."
    return section("Benchmarks", (), [benchmark_pictures(runs)], otherwise=words)


def about_the_runs(runs: Runs) -> Section:
    count, used = len(runs.given), sum(run.complete for run in runs.given)
    given = f"{count} runs were given; {used} of them are finished and evaluated at every team size."
    return Section("The runs", "\n\n".join([given, *notes(runs)]))


SECTIONS: tuple[Callable[[Runs], Section], ...] = (
    *(results, team_sizes, training, partial(comparison, "Ablations", ABLATIONS), context),
    *(
        partial(comparison, "Conditioning by a hypernetwork", HYPERNETWORK),
        specialists,
        large_teams,
        unlike_agents,
        originals,
    ),
    *(trials, resources, benchmarks, about_the_runs),
)
