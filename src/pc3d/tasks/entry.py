"""All that is known of a task: its world, what belongs to it, and the paper's settings for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pc3d.experiment.methods import ancestors, method_named
from pc3d.experiment.rosters import Curriculum, Rosters
from pc3d.experiment.settings import (
    ActorSettings,
    AlgorithmSettings,
    CriticSettings,
    DistillationSettings,
    Recipe,
    Rules,
)

if TYPE_CHECKING:
    from pc3d.tasks.task import AnyTask


@dataclass(frozen=True)
class Part:
    """Something that is imported only when it is asked for: a list of tasks needs neither JAX nor Pillow."""

    module: str
    name: str

    def load(self) -> Any:
        return getattr(import_module(self.module), self.name)


@dataclass(frozen=True)
class TableColumn:
    """One column of the paper's table of final evaluation hyperparameters."""

    algorithm: AlgorithmSettings
    actor: ActorSettings
    critic: CriticSettings = field(default_factory=CriticSettings)
    distillation: DistillationSettings = field(default_factory=DistillationSettings)

    def chained(
        self, critic: CriticSettings, distillation: DistillationSettings | None = None
    ) -> TableColumn:
        """The paper's parameter chaining: MAPPO's actor and PPO rows, with another critic."""
        return replace(self, critic=critic, distillation=distillation or self.distillation)


@dataclass(frozen=True)
class Paper:
    """What the paper prints for a task, and a recipe for what it leaves open."""

    rosters: Rosters
    curriculum: Curriculum
    episodes: int
    printed: Mapping[str, TableColumn]
    """By method; one that is not printed has its nearest ancestor's."""
    recipe: Recipe
    """What the paper leaves open and a task may want otherwise; reasons: docs/reproduction.md."""

    def column(self, method: str) -> TableColumn:
        """The settings of a method, as printed or by the paper's chaining."""
        row = method_named(method)
        known = [name for name in (method, *ancestors(method), "mappo") if name in self.printed]
        column = self.printed[known[0]]
        if not isinstance(column.algorithm, row.algorithm):
            column = replace(column, algorithm=row.algorithm())
        if row.has_context and not row.distils:
            column = replace(column, distillation=replace(column.distillation, weight=0.0))
        return column


@dataclass(frozen=True)
class TaskEntry:
    """One task. A new one that comes with pc3d is a folder with such an entry, and a line in `tasks`."""

    title: str
    """In headings."""
    world: Part | type[AnyTask]
    """The task's class."""
    scale: float = 1.0
    """Tables and figures show its returns times this."""
    rules: type[Rules] = Rules
    """What can be set of its rules: named as the fields of the task's class."""
    paper: Paper | None = None
    original: Part | None = None
    """The original package behind the port's interface: an `OriginalWorld`."""
    parity: Part | None = None
    """What is compared with the original: a `ParityCase`."""
    script: Part | None = None
    """A player who sees everything: from a state to everybody's actions."""
    replay: Part | None = None
    """What the page's viewer is told of an episode: from its states and the team size."""
    viewer: str = ""
    """The package that holds replay.js, which draws it there."""

    @property
    def task_class(self) -> type[AnyTask]:
        return self.world.load() if isinstance(self.world, Part) else self.world

    def make(self, slots: int, rules: Rules | None = None) -> AnyTask:
        """The world for that many slots."""
        return self.task_class(slots=slots, **vars(rules if rules is not None else self.rules()))
