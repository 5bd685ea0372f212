"""What evaluation found out about contexts: how well they are recovered, and what the gate does with them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pc3d.report.json_tables import read_table
from pc3d.report.names import file_name, method_title, task_title
from pc3d.report.runs import Run, Runs
from pc3d.report.statistics import over_seeds
from pc3d.report.tables.results import SPLITS, spread_text
from pc3d.report.tables.table import NOTHING, Cell, Table
from pc3d.system.errors import BadInput

GATES = {
    "return": "gate as trained",
    "return_gate_off": "gate forced off",
    "return_gate_on": "gate forced on",
}
RECOVERY = {
    "alignment": "cosine to the teacher",
    "alignment_with_teammates": "cosine to teammates' contexts",
    "alignment_of_a_constant": "cosine of the best constant",
    "variance_explained": "variance explained",
    "personal_share": "variance between teammates",
    "gate_mean": "gate",
}
# Where an agent is alone, or nothing varies:
UNANSWERED = ("alignment_with_teammates", "variance_explained", "personal_share")
NUMBERS = (*RECOVERY, "gate_deviation", *GATES)


@dataclass(frozen=True)
class Context:
    """One run's context.json, by team size."""

    rollouts: int
    by_size: dict[int, dict[str, Any]]


def contexts(runs: Runs, task: str) -> dict[str, list[Context]]:
    """By method, the contexts of its finished runs that have one."""
    found = {
        method: [context for run in runs.finished(task, method) if (context := read_context(run)) is not None]
        for method in runs.methods(task)
    }
    return {method: several for method, several in found.items() if several}


def numbers(several: list[Context], team_size: int, name: str) -> np.ndarray:
    """One quantity at one size, for every seed that has it."""
    return np.array([each.by_size[team_size][name] for each in several if team_size in each.by_size])


def gate_table(runs: Runs, task: str) -> Table | None:
    """What the same policies return when their gate is forced, by split."""
    found = contexts(runs, task)
    if not found:
        return None
    rows = [
        (
            Cell(f"{method_title(method)}, {label}"),
            *(_cell(runs, task, several, split, name, task_title(task).scale) for split in SPLITS),
        )
        for method, several in found.items()
        for name, label in GATES.items()
    ]
    rollouts = sorted({context.rollouts for several in found.values() for context in several})
    return Table(
        name=file_name("gate", task),
        title=f"{task_title(task).with_scale}: returns with the gate forced at evaluation",
        caption=(
            f"Split means, ± standard deviation over n seeds, of {' or '.join(map(str, rollouts))} rollouts "
            "per team size: the same policies and starts in every row of a method."
        ),
        columns=("Policy", *SPLITS),
        rows=tuple(rows),
    )


def recovery_table(runs: Runs, task: str) -> Table | None:
    """How close students come to the teacher's contexts, and how much the gate lets in, by split."""
    found = contexts(runs, task)
    if not found:
        return None
    rows = [
        (
            Cell(f"{method_title(method)}, {split}"),
            *(_cell(runs, task, several, split, name, 1.0) for name in RECOVERY),
        )
        for method, several in found.items()
        for split in SPLITS
    ]
    return Table(
        name=file_name("recovery", task),
        title=f"{task_title(task).name}: recovery and use of the context",
        caption=(
            "Cosine between the student's context and the averaged teacher's (1 is equal, 0 unrelated). "
            "Beside it, its cosine to the contexts that the teacher has for the agent's teammates, and what "
            "always giving the same best answer would reach: only more than both is recovered from the "
            "agent's own history. Variance explained: 1 minus the squared error over the squared deviation "
            "from the mean context of a team size (1 is equal, 0 no better than that mean). Variance between "
            "teammates: the share of the teacher's own variance that lies between the agents of a team at "
            "one moment (0: all of them have the same context, and nothing is personal). The gate is 0 to "
            "1. Means over decisions, then sizes of a split, ± standard deviation over n seeds. A-MAPPO's "
            "student is not trained to match the teacher."
        ),
        columns=("Policies", *RECOVERY.values()),
        rows=tuple(rows),
    )


def _cell(runs: Runs, task: str, several: list[Context], split: str, name: str, scale: float) -> Cell:
    sizes = getattr(runs.rosters(task), split)
    whole = [context for context in several if sizes and all(size in context.by_size for size in sizes)]
    if not whole:
        return Cell(NOTHING)
    by_seed = np.array([[context.by_size[size][name] for size in sizes] for context in whole])
    if np.isnan(by_seed).all(axis=1).any():
        return Cell(NOTHING)
    return Cell(spread_text(over_seeds(np.nanmean(by_seed, axis=1) * scale)))


def read_context(run: Run) -> Context | None:
    """What evaluation left of a run's contexts; None if it has none."""
    path = run.context_file
    if not path.exists():
        return None
    content = read_table(path)
    try:
        by_size = {int(size): dict(found) for size, found in content["by_size"].items()}
        for found in by_size.values():
            found.update({name: _number(found, name) for name in NUMBERS})
            found["alignment_by_step"] = [_finite(value) for value in found["alignment_by_step"]]
        return Context(int(content["rollouts"]), by_size)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        raise BadInput(
            f"{path} is not a table of contexts as pc3d evaluate writes it: evaluate the run again"
        ) from None


def _number(found: dict[str, Any], name: str) -> float:
    return math.nan if name in UNANSWERED and found[name] is None else _finite(found[name])


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError
    return number
