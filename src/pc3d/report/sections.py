"""What a report consists of, in the order it is read: each section is made when it is asked for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from pc3d.report.changes import changes_of, left_out
from pc3d.report.changing_story import changing_story
from pc3d.report.figures.boxes import return_boxes
from pc3d.report.figures.churn import churn_figure
from pc3d.report.figures.context_lag import context_lag_figure
from pc3d.report.figures.context_maps import alignment_over_time, context_map
from pc3d.report.figures.curves import learning_curves, stage_curves
from pc3d.report.figures.execution import execution_figure
from pc3d.report.figures.pictures import benchmark_pictures
from pc3d.report.figures.shocks import response_figure, survival_figure
from pc3d.report.figures.style import Figure
from pc3d.report.figures.team_sizes import team_size_chart
from pc3d.report.notes import notes
from pc3d.report.runs import Runs
from pc3d.report.story import IN_SHORT, Point, question, story
from pc3d.report.tables.backbones import backbone_table
from pc3d.report.tables.changing_teams import changing_table
from pc3d.report.tables.changing_trials import changing_trials_tables
from pc3d.report.tables.collisions import collision_table
from pc3d.report.tables.comparisons import claims_table, difference_table, size_difference_table
from pc3d.report.tables.context import gate_table, recovery_table, teacher_table
from pc3d.report.tables.execution import execution_table
from pc3d.report.tables.large_teams import large_team_figure, large_team_table
from pc3d.report.tables.less_said import less_said_tables
from pc3d.report.tables.mixes import mix_table, tasks_with_mixes
from pc3d.report.tables.originals import originals_table
from pc3d.report.tables.results import (
    ABLATIONS,
    HYPERNETWORK,
    MAIN_RESULTS,
    Kind,
    overview_table,
    result_table,
)
from pc3d.report.tables.specialists import specialist_figure, specialist_runs, specialist_table
from pc3d.report.tables.statistics import statistics_table
from pc3d.report.tables.table import Table
from pc3d.report.tables.training import clock_table, training_table
from pc3d.report.tables.trials import trial_tables


@dataclass(frozen=True)
class Beginning:
    """What a report tells before its sections: a few points, and one chart, wide and narrow."""

    points: tuple[Point, ...]
    charts: tuple[Figure, ...] = ()
    question: str = IN_SHORT

    @property
    def beside(self) -> int:
        """How many points stand side by side."""
        return sum(point.beside for point in self.points)


def begin(runs: Runs) -> Beginning:
    charts = (team_size_chart(runs), team_size_chart(runs, narrow=True))
    return Beginning(tuple(story(runs)), tuple(chart for chart in charts if chart), question(runs))


@dataclass(frozen=True)
class Section:
    """A heading with what belongs under it; paragraphs of the text are divided by blank lines."""

    heading: str
    text: str = ""
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    folded: bool = True
    """Whether the page shows its heading alone until a reader opens it."""

    @property
    def empty(self) -> bool:
        return not (self.text or self.tables or self.figures)


def section(
    heading: str,
    tables: Iterable[Table | None] = (),
    figures: Iterable[Figure | None] = (),
    *,
    folded: bool = True,
) -> Section:
    """Whatever tables and figures there was data for."""
    found = tuple(table for table in tables if table), tuple(figure for figure in figures if figure)
    return Section(heading, "", *found, folded)


def results(runs: Runs) -> Section:
    by_task = [result_table(MAIN_RESULTS, runs, task) for task in runs.tasks]
    return section("Results", [overview_table(runs), *by_task], folded=False)


def at_execution(runs: Runs) -> Section:
    needed = [execution_table(runs, task) for task in runs.tasks]
    less_said = [table for task in runs.tasks for table in less_said_tables(runs, task)]
    return section("At execution", [*needed, *less_said], [execution_figure(runs)], folded=False)


def certainty(runs: Runs) -> Section:
    makers = (claims_table, difference_table, size_difference_table, statistics_table)
    by_task = [make(runs, task) for task in runs.tasks for make in makers]
    return section("Certainty", [*by_task, collision_table(runs)])


def team_sizes(runs: Runs) -> Section:
    methods = MAIN_RESULTS.methods(runs)
    return section("Team sizes", (), [return_boxes(runs, task, methods) for task in runs.tasks])


def training(runs: Runs) -> Section:
    methods, makers = MAIN_RESULTS.methods(runs), (learning_curves, stage_curves)
    figures = [make(runs, task, methods) for task in runs.tasks for make in makers]
    return section("Training", [training_table(runs, task) for task in runs.tasks], figures)


def comparison(heading: str, kind: Kind, runs: Runs) -> Section:
    """The tables of a kind with the boxes and curves of its methods."""
    methods, tasks = kind.methods(runs), kind.tasks(runs)
    makers = (return_boxes, learning_curves, stage_curves)
    figures = [make(runs, task, methods, f"{kind.name}-") for task in tasks for make in makers]
    return section(heading, [result_table(kind, runs, task) for task in tasks], figures)


def context(runs: Runs) -> Section:
    tables = [make(runs, task) for task in runs.tasks for make in (recovery_table, teacher_table, gate_table)]
    figures = [make(runs, task) for task in runs.tasks for make in (context_map, alignment_over_time)]
    return section("Contexts", tables, figures)


def backbones(runs: Runs) -> Section:
    return section("Backbones", [backbone_table(runs, task) for task in runs.tasks])


def specialists(runs: Runs) -> Section:
    tasks = specialist_runs(runs).tasks
    tables = [specialist_table(runs, task) for task in tasks]
    figures = [specialist_figure(runs, task) for task in tasks]
    return section("Specialists", tables, figures)


def originals(runs: Runs) -> Section:
    tables = [originals_table(runs, task) for task in runs.tasks]
    return section("Original packages", tables)


def large_teams(runs: Runs) -> Section:
    tables = [large_team_table(runs, task) for task in runs.tasks]
    figures = [large_team_figure(runs, task) for task in runs.tasks]
    return section("Large teams", tables, figures)


def changing_teams(runs: Runs) -> Section:
    changes = {task: found for task in runs.tasks if (found := changes_of(runs, task))}
    makers = (response_figure, survival_figure, churn_figure, context_lag_figure)
    tables = [changing_table(found, task) for task, found in changes.items()]
    tables += changing_trials_tables(runs)
    figures = [make(found, task) for task, found in changes.items() for make in makers]
    told = [sentence for task, found in changes.items() for sentence in changing_story(found, task)]
    told += [note for task in runs.tasks for note in left_out(runs, task)]
    return replace(section("Teams that change", tables, figures), text="\n\n".join(told))


def unlike_agents(runs: Runs) -> Section:
    return section("Unlike agents", [mix_table(runs, task) for task in tasks_with_mixes(runs)])


def trials(runs: Runs) -> Section:
    return section("Settings tried", trial_tables(runs))


def resources(runs: Runs) -> Section:
    return section("Time", [clock_table(runs)])


def benchmarks(runs: Runs) -> Section:
    return section("Benchmarks", (), [benchmark_pictures(runs)])


def about_the_runs(runs: Runs) -> Section:
    left = len(runs.left_out)
    count, used = len(runs.given) + left, sum(run.complete for run in runs.given)
    given = "1 run was" if count == 1 else f"{count} runs were"
    out = f"{left} left out, " if left else ""
    given += f" given; {out}{used} finished and evaluated at every team size."
    return Section("Runs", "\n\n".join([given, *notes(runs)]))


SECTIONS: tuple[Callable[[Runs], Section], ...] = (
    *(
        results,
        at_execution,
        certainty,
        team_sizes,
        training,
        partial(comparison, "Ablations", ABLATIONS),
        context,
    ),
    *(
        partial(comparison, "Hypernetwork", HYPERNETWORK),
        backbones,
        specialists,
        large_teams,
        changing_teams,
        unlike_agents,
        originals,
    ),
    *(trials, resources, benchmarks, about_the_runs),
)
