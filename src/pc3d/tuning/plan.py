"""What a search is: all that must stay the same from its first trial to its last, on every machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pc3d.chaining import METHOD_NAMES, ancestors
from pc3d.errors import BadInput, unknown_name
from pc3d.experiments import PAPER, paper
from pc3d.presets.changes import as_text, changed, changes_between, parse_change
from pc3d.presets.preset_file import Preset, experiment_of
from pc3d.settings import Experiment
from pc3d.tuning.space import Row, space_for
from pc3d.tuning.trial_folder import Budget

WINNER = "preset.toml"
Pruning = Literal["median", "halving", "none"]


@dataclass(frozen=True)
class Plan:
    """One search."""

    base: Experiment
    base_name: str
    rows: tuple[Row, ...]
    budget: Budget
    pruning: Pruning
    sampler_seed: int

    def preset_of(self, settings: dict[str, Any]) -> Preset:
        """A trial's settings as a preset: all in which it differs from the paper."""
        task, method = self.base.task, self.base.method
        experiment = changed(self.base, settings, "a trial")
        return Preset(task, method, changes_between(paper(task, method), experiment))

    @property
    def identity(self) -> dict[str, str]:
        """The plan as flat text, so that two can be compared and their first difference told."""
        task, method = self.base.task, self.base.method
        base = changes_between(paper(task, method), self.base)
        return {
            "task": task,
            "method": method,
            "episodes": str(self.budget.episodes),
            "seeds": str(self.budget.seed_count),
            "rollouts": str(self.budget.rollouts),
            "pruning": self.pruning,
            "sampler seed": str(self.sampler_seed),
            **{f"base {name}": as_text(value) for name, value in base.items()},
            **{f"range of {row.setting}": str(row.tried) for row in self.rows},
        }


def make_plan(
    base: Experiment,
    base_name: str,
    fixed: tuple[str, ...],
    budget: Budget,
    pruning: Pruning,
    sampler_seed: int,
) -> Plan:
    """The search that starts from the base, with some settings fixed."""
    changes = dict(parse_change(text, base) for text in fixed)
    base = changed(base, changes, "--fix")
    if not base.rosters.validation:
        raise BadInput(f"a search is decided on validation sizes, but {base.task} has none")
    return Plan(base, base_name, space_for(base, changes), budget, pruning, sampler_seed)


def first_difference(known: dict[str, Any], asked: dict[str, str]) -> str | None:
    """Where a stored search is not the one asked for."""
    for name in [*asked, *known]:
        if known.get(name) != asked.get(name):
            return f"{name} is {known.get(name, 'not given')} there and {asked.get(name, 'not given')} here"
    return None


def inherited(folder: Path, task: str, method: str) -> tuple[Experiment, str]:
    """The base of a search by the paper's chaining: the nearest winner there is, or the paper's settings."""
    if task not in PAPER:
        raise unknown_name("task", task, PAPER)
    if method not in METHOD_NAMES:
        raise unknown_name("method", method, METHOD_NAMES)
    for ancestor in ancestors(method):
        winner = folder / task / ancestor / WINNER
        if winner.exists():
            return experiment_of(str(winner), task, method), f"the winner of {ancestor}'s search"
    return paper(task, method), "paper"
