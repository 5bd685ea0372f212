"""How tasks and methods are called and scaled wherever a report shows them."""

from collections.abc import Iterable
from dataclasses import dataclass

from pc3d.hosted.imports import folder_name

METHOD_TITLES = {
    "ippo": "IPPO",
    "mappo": "MAPPO",
    "pic": "PIC-MAPPO",
    "pc3d": "PC3D-MAPPO",
    "gate-off": "Always Off Gate",
    "gate-on": "Always On Gate",
    "a-mappo": "A-MAPPO",
    "hyper-pc3d": "Hyper-PC3D-MAPPO",
    "random": "Random",
    "noop": "No-op",
    "scripted": "Scripted",
}
OURS = "pc3d"  # the method that all others are compared with
REFERENCES = ("random", "noop", "scripted")


@dataclass(frozen=True)
class TaskTitle:
    """A task's name in headings, and the factor that tables and figures show its returns with."""

    name: str
    scale: float = 1.0

    @property
    def with_scale(self) -> str:
        return self.name if self.scale == 1 else f"{self.name} (×{self.scale:g})"


TASK_TITLES = {
    "spread": TaskTitle("Spread"),
    "lbf": TaskTitle("LBF", 100.0),  # the paper's tables do so for readability
    "rware": TaskTitle("RWARE"),
}


def method_title(method: str) -> str:
    return METHOD_TITLES.get(method, method)


def task_title(task: str) -> TaskTitle:
    return TASK_TITLES.get(task, TaskTitle(task))


def file_name(kind: str, task: str) -> str:
    """The name of a task's table or figure."""
    return f"{kind}-{folder_name(task)}"


def methods_in_order(methods: set[str]) -> list[str]:
    """The paper's methods in the paper's order, then any others by name."""
    return _in_order(methods, METHOD_TITLES)


def tasks_in_order(tasks: set[str]) -> list[str]:
    """The paper's tasks in the paper's order, then any others by name."""
    return _in_order(tasks, TASK_TITLES)


def _in_order(names: set[str], known: Iterable[str]) -> list[str]:
    first = [name for name in known if name in names]
    return first + sorted(names.difference(first))
