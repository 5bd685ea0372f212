"""What is left of a return when less is said: with lost links, or with a coach that speaks at other times."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from pc3d.evaluation.broadcasts import Speaking
from pc3d.evaluation.evaluation_file import FILES_OF_LESS_SAID
from pc3d.evaluation.less_said import LessSaid, Said, Way, read_less_said
from pc3d.experiment.copa_settings import NEVER
from pc3d.report.names import heading, method_title, task_title
from pc3d.report.runs import Run, Runs
from pc3d.report.statistics import mean_of, over_seeds
from pc3d.report.tables.comparisons import difference_cell
from pc3d.report.tables.execution import measured
from pc3d.report.tables.results import spread_text
from pc3d.report.tables.table import NOTHING, Cell, Row, Table, make_table
from pc3d.system.errors import BadInput
from pc3d.system.plain import amount

COLUMNS = ("Method", "what is said", "messages per agent and step")
BySize = dict[int, Said]
Files = list[LessSaid]


def less_said_tables(runs: Runs, task: str) -> list[Table | None]:
    """A table for each of the two options that runs were scored with."""
    return [_table(runs, task, option) for option in FILES_OF_LESS_SAID]


def _table(runs: Runs, task: str, option: str) -> Table | None:
    splits = {split: sizes for split, sizes in runs.splits(task).items() if sizes}
    by_method: dict[str, Files] = defaultdict(list)
    files = _files(runs, task, option)
    for file in files:
        if file.rules == _usual_rules(files):
            by_method[file.player[1]].append(file)
    rows = [row for files in by_method.values() for row in _rows(files, splits, task_title(task).scale)]
    titles = (f"{split} ({', '.join(map(str, sizes))})" for split, sizes in splits.items())
    return make_table(heading(option.strip("-"), task), (*COLUMNS, *titles), rows)


def scored_by_other_rules(runs: Runs, task: str) -> Iterator[LessSaid]:
    """What cannot stand in a table with the others, and is left out of it."""
    for option in FILES_OF_LESS_SAID:
        files = _files(runs, task, option)
        yield from (file for file in files if file.rules != _usual_rules(files))


def _files(runs: Runs, task: str, option: str) -> Files:
    found = [run for method in runs.methods(task) for run in runs.finished(task, method)]
    return [file for run in found for file in less_said_in(run) if file.asked_for == option]


def less_said_in(run: Run) -> Iterator[LessSaid]:
    """What a run's folder holds of lost links and other coaches, if it is of that run."""
    experiment = run.experiment
    for file in read_less_said(run.folder.path):
        if file.player != (experiment.task, experiment.method, experiment.seed):
            raise BadInput(f"{file.path} is of another run than {run.name}")
        yield file


def _usual_rules(files: Files) -> dict[str, Any]:
    """Of most files, or of the first among as many."""
    rules = [file.rules for file in files]
    return max(rules, key=rules.count)


def _rows(files: Files, splits: dict[str, tuple[int, ...]], scale: float) -> Iterator[Row]:
    """One method's, from the most that is said to the least."""
    ways = {way for file in files for way in file.ways}
    usual = {file.usual for file in files}
    for way in sorted(ways, key=_order):
        of_seeds = [file for file in files if way in file.ways]
        told = (
            f"{_in_words(way)}, as trained" if way in usual and isinstance(way, Speaking) else _in_words(way)
        )
        cells = [_cell(of_seeds, way, sizes, scale) for sizes in splits.values()]
        yield method_title(files[0].player[1]), told, _messages(of_seeds, way), *cells


def _order(way: Way) -> tuple[float, float]:
    if isinstance(way, Speaking):
        return (np.inf if way.every == NEVER else way.every), way.thrift
    return way, 0


def _in_words(way: Way) -> str:
    if not isinstance(way, Speaking):
        return "all links" if way == 0 else f"{100 * way:g} % of links dropped"
    if way.every == NEVER:
        return "the coach is silent"
    often = "every step" if way.every == 1 else f"every {amount(way.every, 'step')}"
    return f"the coach speaks {often}" + (f", news beyond {way.thrift:g} alone" if way.thrift else "")


def _messages(files: Files, way: Way) -> Cell:
    sizes = set.intersection(*(set(file.ways[way]) for file in files))
    return measured(
        [float(np.mean([file.ways[way][size].messages for file in files])) for size in sorted(sizes)]
    )


def _cell(files: Files, way: Way, sizes: tuple[int, ...], scale: float) -> Cell:
    """The return, and below it the difference from the usual way, seed by seed."""
    means = [mean for file in files if (mean := _mean(file, way, sizes)) is not None]
    if not means:
        return Cell(NOTHING)
    pairs = [(_mean(file, way, sizes), _mean(file, file.usual, sizes)) for file in files if file.usual != way]
    less = [scale * (one - usual) for one, usual in pairs if one is not None and usual is not None]
    difference = difference_cell(mean_of(np.array(less))) if less else Cell("")
    return Cell(spread_text(over_seeds(scale * np.array(means))), difference.best, difference.text)


def _mean(file: LessSaid, way: Way, sizes: tuple[int, ...]) -> float | None:
    """Of one seed, if it was scored at all of the sizes."""
    scored = file.ways.get(way, {})
    return (
        float(np.mean([scored[size].returns.mean() for size in sizes])) if set(sizes) <= set(scored) else None
    )
