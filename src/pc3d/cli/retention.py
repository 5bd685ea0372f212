"""`pc3d evaluate RUN --teacher`: a student beside the teacher that its run's checkpoint still holds."""

import math
from dataclasses import replace
from pathlib import Path

from rich.table import Table

from pc3d.cli.display import Terminal, table
from pc3d.cli.team_sizes import team_sizes_for
from pc3d.evaluation.retention import Retention, retention
from pc3d.evaluation.run import DEFAULT_SETTINGS, EvaluationSettings
from pc3d.play.hosted.crew import Hosting
from pc3d.play.opening import open_arena
from pc3d.runs.run_folder import RunFolder
from pc3d.system.errors import BadInput


def show_retention(
    paths: list[Path],
    settings: EvaluationSettings,
    team_sizes: str | None,
    task: str | None,
    hosting: Hosting,
) -> None:
    """A table for each run; nothing is written."""
    if replace(settings, rollouts=DEFAULT_SETTINGS.rollouts) != DEFAULT_SETTINGS:
        raise BadInput("--teacher goes with --team-sizes and --rollouts alone")
    for path in paths:
        if not path.is_dir():
            raise BadInput(f"{path} is a policy alone: its teacher is in the checkpoint of its run's folder")
        run = RunFolder(path)
        experiment = run.experiment()
        with open_arena(experiment, task, hosting) as arena:
            sizes = team_sizes_for(arena.game, team_sizes, experiment.rosters.all)
            found = retention(run, arena, sizes, settings.rollouts)
        Terminal().print(_table(path, found))


def _table(path: Path, found: dict[int, Retention]) -> Table:
    rows = (
        (
            str(size),
            *(f"{value:.4g}" for value in (one.student, one.teacher, one.random)),
            "–" if math.isnan(one.ratio) else f"{one.ratio:.2f}",
        )
        for size, one in found.items()
    )
    headings = ("agents", "student", "teacher", "random", "kept")
    return table(f"{path}: what is kept of the teacher's return", headings, rows, words=0)
