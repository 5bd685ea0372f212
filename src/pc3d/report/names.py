"""How tasks, methods, tables and figures are called and scaled wherever a report shows them."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files

from pc3d.experiment.methods import METHODS
from pc3d.system.imports import folder_name
from pc3d.tasks.registry import TASKS

SPLITS = ("train", "validation", "test")
REFERENCE_TITLES = {"random": "Random", "noop": "No-op", "scripted": "Scripted"}
WORDS = tomllib.loads((files("pc3d.report") / "words.toml").read_text(encoding="utf-8"))
Heading = tuple[str, str, str]  # the name of a table's or figure's file, its title and its caption


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


def heading(
    title: str, task: str | None = None, *, name: str = "", caption: str = "", **values: object
) -> Heading:
    """What words.toml says; the file's name and the caption go by the title's where no other is given."""
    name = name or title
    if task is not None:
        values |= {"task": task_title(task).name, "scaled": task_title(task).with_scale}
        name = f"{name}-{folder_name(task)}"
    titles, captions = WORDS["titles"], WORDS["captions"]
    return name, titles[title].format(**values), captions[caption or title].format(**values)


def agents(team_size: int) -> str:
    return "1 agent" if team_size == 1 else f"{team_size} agents"


def methods_in_order(methods: set[str]) -> list[str]:
    """The paper's methods in the paper's order, then any others by name."""
    return _in_order(methods, (*METHODS, *REFERENCE_TITLES))


def tasks_in_order(tasks: set[str]) -> list[str]:
    """The paper's tasks in the paper's order, then any others by name."""
    return _in_order(tasks, TASKS)


def _in_order(names: set[str], known: Iterable[str]) -> list[str]:
    first = [name for name in known if name in names]
    return first + sorted(names.difference(first))
