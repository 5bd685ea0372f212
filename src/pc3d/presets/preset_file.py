"""Preset files: the settings a search found, as readable TOML that `pc3d train --preset` takes.

A file is read strictly. It has no place for team sizes, curricula or budgets, and nothing in it can run.
"""

import json
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.methods import METHODS, ancestors, method_named
from pc3d.experiment.named_rosters import roster_named
from pc3d.experiment.roster_file import growing_curriculum
from pc3d.experiment.rosters import Rosters
from pc3d.presets.changes import NETWORKS, Changes, changed
from pc3d.presets.paper import PRESETS, custom, paper
from pc3d.system.errors import BadInput, refuse_unknown, unknown_name
from pc3d.system.files import write_atomically
from pc3d.system.imports import is_import_path
from pc3d.system.plain import from_plain
from pc3d.system.toml_file import read_toml
from pc3d.tasks.named_mixes import with_mixes

SUFFIX = ".toml"
DEFAULT_PRESET = "paper"
USUAL = "usual"  # what an own task has instead of the paper's settings
WORDS = ("roster", "mix", "capabilities")  # as on the command line
NEEDED = {"task": "spread", "method": "pc3d"}  # with an example of each
NOT_CHAINED_FROM_MAPPO = ("critic", "distillation")  # its inputs differ too much


@dataclass(frozen=True)
class Found:
    """Where a preset comes from."""

    base: str
    """What the search started from."""
    trials: int
    trial: int
    """The number of the trial that won."""
    seeds: int
    episodes: int
    rollouts: int
    """Evaluation episodes for each team size and seed."""
    train_return: float
    validation_return: float
    train_sizes: tuple[int, ...] = ()
    validation_sizes: tuple[int, ...] = ()
    """What was chosen at these sizes can be judged at others only; files of the first versions lack them."""


@dataclass(frozen=True)
class Preset:
    """Settings that differ from the usual ones, for the method they were found for and its heirs."""

    task: str
    method: str
    changes: Changes
    found: Found | None = None
    roster: str = ""
    """How teams change while they play, as on the command line; as usual, if nothing is said."""
    mix: str = ""
    """Which kinds of agents they are made of, in the same way."""
    capabilities: str = ""
    """What agents see of what they are able to do."""

    def applied(self, usual: Experiment, where: str) -> Experiment:
        """The usual experiment with these settings, as far as its method inherits them."""
        task, method = usual.task, usual.method
        if task != self.task:
            raise BadInput(f"{where} is a preset for {self.task}, not for {task}")
        if method != self.method and self.method not in ancestors(method):
            raise BadInput(
                f"{where} is a preset for {self.method}, and {method} inherits nothing from it: "
                f"{method} inherits from {', '.join(ancestors(method)) or 'no other method'}"
            )
        if self.found is not None:
            for size in {*self.found.train_sizes, *self.found.validation_sizes} & set(usual.rosters.test):
                raise BadInput(f"{where} was found with {size} agents, so {size} cannot be a test size")
        made = changed(usual, self._inherited_by(method), where)
        if self.roster:
            made = replace(made, roster=roster_named(self.roster))
        return with_mixes(made, self.mix or None, self.capabilities or None)

    def _inherited_by(self, method: str) -> dict[str, Any]:
        dropped = set(NOT_CHAINED_FROM_MAPPO if method != self.method == "mappo" else ())
        ours, theirs = method_named(self.method).algorithm, method_named(method).algorithm
        if not issubclass(theirs, ours):
            dropped.add(ours.section)  # the heir has no such settings
        groups = {ours.section: theirs.section}  # an algorithm that extends ours has them under its own name
        kept = {}
        for name, value in self.changes.items():
            group, _, setting = name.partition(".")
            if group not in dropped:
                kept[f"{groups.get(group, group)}.{setting}"] = value
        if not method_named(method).distils:  # its weight stays 0
            for setting in ("weight", "final_share"):
                kept.pop(f"distillation.{setting}", None)
        return kept


def is_file(name: str) -> bool:
    """Whether a preset's name means a file."""
    return name.endswith(SUFFIX)


def experiment_of(name: str, task: str, method: str) -> Experiment:
    """The experiment on one of the paper's tasks that a preset stands for."""
    return with_preset(paper(task, method), name)


def with_preset(usual: Experiment, name: str) -> Experiment:
    """The usual experiment as a preset has it: one that comes with pc3d, or a file."""
    if is_file(name):
        return read_preset(Path(name)).applied(usual, name)
    if is_import_path(usual.task):
        if name != USUAL:
            raise unknown_name("preset of an own task", name, (USUAL, f"your own FILE{SUFFIX}"))
        return usual
    check_preset_name(name)
    return PRESETS[name](usual.task, usual.method)


def check_preset_name(name: str) -> None:
    """Refuse what is neither a preset that comes with pc3d nor the name of a file."""
    if not is_file(name) and name not in PRESETS:
        raise unknown_name("preset", name, (*PRESETS, f"your own FILE{SUFFIX}"))


def read_preset(path: Path) -> Preset:
    """Read a preset file and check all of it, also for its own method."""
    content = read_toml(path, "preset file")
    named = ("task", "method", *WORDS)
    texts = {name: from_plain(str, content.get(name, ""), f"{path}: {name}") for name in named}
    for name, usual in NEEDED.items():
        if not texts[name]:
            raise BadInput(f"{path} does not say its {name}: add a line such as {name} = {_toml(usual)}")
    if is_import_path(texts["method"]):
        method_named(texts["method"])  # says how to name it
    refuse_unknown(f"method (in {path})", texts["method"], METHODS)
    found = from_plain(Found, content["found"], f"{path}: found") if "found" in content else None
    known = (METHODS[texts["method"]].algorithm.section, *NETWORKS)
    for name in content:
        refuse_unknown(f"entry in {path}", name, (*named, "found", *known))
    changes: dict[str, Any] = {}
    for section in known:
        entries = content.get(section, {})
        if not isinstance(entries, dict):
            raise BadInput(f"{path}: {section} must be a table of settings")
        changes |= {f"{section}.{name}": value for name, value in entries.items()}
    made = Preset(changes=changes, found=found, **texts)
    try:
        made.applied(usual_of_any_size(made.task, made.method), str(path))
    except BadInput as error:
        raise BadInput(str(error) if str(path) in str(error) else f"{path}: {error}") from None
    return made


def write_preset(path: Path, made: Preset) -> None:
    """Write a preset as a file for people: a heading, where it comes from, and the settings by group."""
    whose = "the usual ones" if is_import_path(made.task) else "the paper's"
    lines = [
        f"# Settings that differ from {whose}. Use them with:",
        f"#   {train_command(made.task, made.method, path.name)}",
        f"task = {_toml(made.task)}",
        f"method = {_toml(made.method)}",
    ]
    lines += [f"{name} = {_toml(getattr(made, name))}" for name in WORDS if getattr(made, name)]
    if made.found is not None:
        lines += ["", "[found]  # returns are means over training and over validation sizes"]
        lines += [f"{field.name} = {_toml(getattr(made.found, field.name))}" for field in fields(made.found)]
    for section in dict.fromkeys(name.partition(".")[0] for name in made.changes):
        own = {name: value for name, value in made.changes.items() if name.startswith(f"{section}.")}
        lines += ["", f"[{section}]"]
        lines += [f"{name.partition('.')[2]} = {_toml(value)}" for name, value in own.items()]
    write_atomically(path, ("\n".join(lines) + "\n").encode())


def train_command(task: str, method: str, preset: Path | str) -> str:
    """How a preset is trained with; an own task's team sizes are the user's."""
    sizes = " --rosters FILE" if is_import_path(task) else ""
    return f"pc3d train {task} {method}{sizes} --preset {preset}"


def usual_of_any_size(task: str, method: str) -> Experiment:
    """The usual experiment, for looking at settings alone: presets have no place for an own task's sizes."""
    if not is_import_path(task):
        return paper(task, method)
    return custom(task, method, Rosters(train=(1,)), growing_curriculum((1,)))


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value) if isinstance(value, str) else repr(value)
