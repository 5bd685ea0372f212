"""The games, by name. A new task is one file and one line here."""

from pc3d.errors import unknown_name
from pc3d.tasks.spread import Spread
from pc3d.tasks.task import AnyTask

TASKS: dict[str, type[AnyTask]] = {"spread": Spread}


def task_class(name: str) -> type[AnyTask]:
    """The task of that name, or a sentence that names the ones there are."""
    if name not in TASKS:
        raise unknown_name("task", name, TASKS)
    return TASKS[name]
