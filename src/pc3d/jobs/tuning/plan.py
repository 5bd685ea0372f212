"""What a search is: all that must stay the same from its first trial to its last, on every machine."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.methods import ancestors
from pc3d.experiment.mixes_file import mixes_to_plain
from pc3d.jobs.tuning.space import Row, space_for
from pc3d.jobs.tuning.trial_folder import Budget
from pc3d.presets.changes import all_settings, changed, changes_between, parse_change
from pc3d.presets.paper import usual_experiment
from pc3d.presets.preset_file import USUAL, Preset, with_preset
from pc3d.system.errors import BadInput
from pc3d.system.imports import folder_name, is_import_path
from pc3d.system.plain import as_text

WINNER = "preset.toml"
ONLY_WHERE_TEAMS_CHANGE = ("roster_changes", "spare_slots")  # searches of before these words go on
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
    mix: str = ""
    """As on the command line: which kinds of agents teams are made of."""
    capabilities: str = ""

    def preset_of(self, settings: dict[str, Any]) -> Preset:
        """A trial's settings as a preset: all in which it differs from the usual experiment."""
        experiment = changed(self.base, settings, "a trial")
        changes = changes_between(usual_experiment(self.base), experiment)
        return Preset(self.base.task, self.base.method, changes, mix=self.mix, capabilities=self.capabilities)

    @property
    def identity(self) -> dict[str, str]:
        """The plan as flat text, so that two can be compared and their first difference told."""
        return {
            "task": self.base.task,
            "method": self.base.method,
            **_own_task(self.base),
            **_unlike_agents(self.base),
            "episodes": str(self.budget.episodes),
            "seeds": str(self.budget.seed_count),
            "rollouts": str(self.budget.rollouts),
            "pruning": self.pruning,
            "sampler seed": str(self.sampler_seed),
            **{f"base {name}": as_text(value) for name, value in all_settings(self.base).items()},
            **{f"range of {row.setting}": str(row.tried) for row in self.rows},
        }


def make_plan(
    base: Experiment,
    base_name: str,
    fixed: tuple[str, ...],
    budget: Budget,
    pruning: Pruning,
    sampler_seed: int,
    *,
    mix: str = "",
    capabilities: str = "",
) -> Plan:
    """The search that starts from the base, with some settings fixed."""
    changes = dict(parse_change(text, base) for text in fixed)
    base = changed(base, changes, "--fix")
    if not base.rosters.validation:
        raise BadInput(
            f"a search is decided on validation sizes, but {base.task} was given none: "
            "add --validation-sizes, or validation to its file"
        )
    rows = space_for(base, changes)
    return Plan(base, base_name, rows, budget, pruning, sampler_seed, mix, capabilities)


def refuse_another(known: dict[str, Any], asked: dict[str, str], place: str, otherwise: str) -> None:
    """Refuse a place whose search is not the one asked for, and say where they differ."""
    for name in [*asked, *known]:
        if known.get(name) != asked.get(name):
            raise BadInput(
                f"{place}: {name} is {known.get(name, 'not given')} there and {asked.get(name, 'not given')} "
                f"here; use another {otherwise}, or ask for that search"
            )


def inherited(folder: Path, usual: Experiment) -> tuple[Experiment, str]:
    """The base of a search by the paper's chaining: the nearest winner there is, or the usual settings."""
    for ancestor in ancestors(usual.method):
        winner = folder / folder_name(usual.task) / folder_name(ancestor) / WINNER
        if winner.exists():
            return with_preset(usual, str(winner)), f"the winner of {ancestor}'s search"
    return usual, USUAL if is_import_path(usual.task) else "paper"


def _unlike_agents(base: Experiment) -> dict[str, str]:
    """The mixes themselves: a file may say something else by the next time."""
    if not base.mixes:
        return {}
    return {"mixes": json.dumps(mixes_to_plain(base.mixes.sealed()), sort_keys=True)}


def _own_task(base: Experiment) -> dict[str, str]:
    """What the paper's tasks have from their tables, and an own task from its user."""
    if base.world is None:
        return {}
    sizes = base.rosters.sealed()
    stages = [
        f"{stage.fraction:g} with {as_text(stage.team_sizes)} at {as_text(stage.probabilities)}"
        for stage in base.curriculum.stages
    ]
    return {
        "training sizes": as_text(sizes.train),
        "validation sizes": as_text(sizes.validation),
        "largest size": str(sizes.largest),
        "curriculum": "; ".join(stages),
        **{
            f"the task's {name}": as_text(value)
            for name, value in vars(base.world).items()
            if value or name not in ONLY_WHERE_TEAMS_CHANGE
        },
    }
