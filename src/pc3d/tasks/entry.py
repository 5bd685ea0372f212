"""All that is known of a task: its world, what belongs to it, and the paper's settings for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pc3d.experiment.algorithm_settings import AlgorithmSettings
from pc3d.experiment.kinds import Capability
from pc3d.experiment.methods import algorithms, ancestors, method_named
from pc3d.experiment.network_settings import ActorSettings, CriticSettings, DistillationSettings
from pc3d.experiment.recipe import Recipe
from pc3d.experiment.rosters import Curriculum, Rosters
from pc3d.experiment.world import Rules
from pc3d.system.errors import BadInput, refuse_unknown
from pc3d.system.plain import from_plain
from pc3d.system.toml_file import read_toml

if TYPE_CHECKING:
    from pc3d.tasks.task import AnyTask, World


@dataclass(frozen=True)
class Part:
    """Something that is imported only when it is asked for: a list of tasks needs neither JAX nor Pillow."""

    module: str
    name: str

    def load(self) -> Any:
        return getattr(import_module(self.module), self.name)


@dataclass(frozen=True)
class TableColumn:
    """A column of the paper's table of final hyperparameters; None: as the parent method has it."""

    algorithm: AlgorithmSettings | None = None
    actor: ActorSettings | None = None
    critic: CriticSettings | None = None
    distillation: DistillationSettings | None = None


@dataclass(frozen=True)
class Paper:
    """What the paper prints for a task, and a recipe for what it leaves open."""

    rosters: Rosters
    curriculum: Curriculum
    episodes: int
    recipe: Recipe
    """What the paper leaves open and a task may want otherwise; reasons: docs/reproduction.md."""
    printed: Mapping[str, TableColumn] = field(default_factory=dict)
    """By method."""
    chosen: Mapping[str, AlgorithmSettings] = field(default_factory=dict)
    """For algorithms that the paper does not have: ours, by their sections."""

    def settings(self, method: str) -> dict[str, Any]:
        """A method's settings by field of an experiment: as printed, or by the paper's parameter chaining."""
        row = method_named(method)
        lineage = [name for name in (method, *ancestors(method)) if name in self.printed] or ["mappo"]
        found: dict[str, Any] = {}
        for name in lineage:
            found |= {part: value for part, value in vars(self.printed[name]).items() if not found.get(part)}
        if not isinstance(found["algorithm"], row.algorithm):
            found["algorithm"] = self._chosen_for(row.algorithm, found["algorithm"])
        if found["distillation"] and not row.distils:
            found["distillation"] = replace(found["distillation"], weight=0.0)
        return {part: value for part, value in found.items() if value is not None}

    def _chosen_for(self, kind: type[AlgorithmSettings], printed: AlgorithmSettings) -> AlgorithmSettings:
        """Ours, or those of what the algorithm extends: chosen by us or printed."""
        ours = [self.chosen[section] for section in reversed(kind.sections()) if section in self.chosen]
        settings = ours[0] if ours else printed
        if type(settings) is kind:
            return settings
        return kind(**(vars(settings) if issubclass(kind, type(settings)) else {}))


def read_paper(path: Path) -> Paper:
    """A task's paper.toml."""
    content = read_toml(path, "file of the paper's settings")
    columns, chosen = content.pop("printed", None), content.pop("chosen", {})
    if not isinstance(columns, dict) or "mappo" not in columns:  # what every method falls back to
        raise BadInput(f"{path} lacks the table printed.mappo")
    paper: Paper = from_plain(Paper, content, str(path))
    printed = {
        name: from_plain(TableColumn, parts, f"{path}: {name}", {"algorithm": method_named(name).algorithm})
        for name, parts in columns.items()
    }
    known = algorithms()
    for section in chosen:
        refuse_unknown(f"algorithm (in {path})", section, known)
    ours = {
        section: from_plain(known[section], parts, f"{path}: {section}") for section, parts in chosen.items()
    }
    return replace(paper, printed=printed, chosen=ours)


@dataclass(frozen=True)
class TaskEntry:
    """One task. A new one that comes with pc3d is a folder with such an entry, and a line in `tasks`."""

    title: str
    """In headings."""
    world: Part | type[AnyTask]
    """The task's class."""
    about: str = ""
    """What is played, for somebody who never heard of it, whatever its rules are set to."""
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
    """A player who sees everything: from the task and a state to the actions of all who are there."""
    replay: Part | None = None
    """What the page's viewer is told of an episode: from the task, its states and the team size."""
    viewer: str = ""
    """The package that holds replay.js, which draws it there."""
    capabilities: tuple[Capability, ...] = ()
    """What its agents may differ in: those of the task's class."""
    mixes: Path | None = None
    """A file with kinds of agents and mixes of them that come with it."""

    @property
    def task_class(self) -> type[AnyTask]:
        return self.world.load() if isinstance(self.world, Part) else self.world

    def make(self, slots: int, rules: Rules | None = None, world: World = "crowded") -> AnyTask:
        """The world for that many slots."""
        return self.task_class(slots=slots, world=world, **vars(rules if rules is not None else self.rules()))
