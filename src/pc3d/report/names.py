"""How tasks and methods are called and scaled wherever a report shows them."""

from collections.abc import Iterable
from dataclasses import dataclass

from pc3d.experiment.methods import METHODS
from pc3d.system.imports import folder_name
from pc3d.tasks.registry import TASKS

REFERENCE_TITLES = {"random": "Random", "noop": "No-op", "scripted": "Scripted"}
REFERENCES = tuple(REFERENCE_TITLES)


@dataclass(frozen=True)
class TaskTitle:
    """A task's name in headings, and the factor that tables and figures show its returns with."""

    name: str
    scale: float = 1.0

    @property
    def with_scale(self) -> str:
        return self.name if self.scale == 1 else f"{self.name} (×{self.scale:g})"


def method_title(method: str) -> str:
    return METHODS[method].title if method in METHODS else REFERENCE_TITLES.get(method, method)


def task_title(task: str) -> TaskTitle:
    return TaskTitle(TASKS[task].title, TASKS[task].scale) if task in TASKS else TaskTitle(task)


def file_name(kind: str, task: str) -> str:
    """The name of a task's table or figure."""
    return f"{kind}-{folder_name(task)}"


def methods_in_order(methods: set[str]) -> list[str]:
    """The paper's methods in the paper's order, then any others by name."""
    return _in_order(methods, (*METHODS, *REFERENCES))


def tasks_in_order(tasks: set[str]) -> list[str]:
    """The paper's tasks in the paper's order, then any others by name."""
    return _in_order(tasks, TASKS)


def _in_order(names: set[str], known: Iterable[str]) -> list[str]:
    first = [name for name in known if name in names]
    return first + sorted(names.difference(first))
