"""The games, by name. A new task is one file and one line here."""

from dataclasses import replace

from pc3d.errors import unknown_name
from pc3d.settings import Experiment
from pc3d.tasks.foraging import Foraging
from pc3d.tasks.spread import Spread
from pc3d.tasks.task import AnyTask
from pc3d.tasks.warehouse import Warehouse

TASKS: dict[str, type[AnyTask]] = {"spread": Spread, "lbf": Foraging, "rware": Warehouse}


def task_class(name: str) -> type[AnyTask]:
    """The task of that name, or a sentence that names the ones there are."""
    if name not in TASKS:
        raise unknown_name("task", name, TASKS)
    return TASKS[name]


def make_task(experiment: Experiment) -> AnyTask:
    """The world of an experiment, as wide as its largest admitted team."""
    task = task_class(experiment.task)(experiment.rosters.largest)
    return replace(task, collisions=experiment.collisions) if isinstance(task, Spread) else task
