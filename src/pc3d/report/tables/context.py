"""What evaluation found out about contexts: how well they are recovered, and what the gate does with them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pc3d.report.names import heading, method_title, task_title
from pc3d.report.runs import Run, Runs
from pc3d.report.scores import read_table
from pc3d.report.statistics import over_seeds
from pc3d.report.tables.results import spread_text
from pc3d.report.tables.table import NOTHING, Table, make_table
from pc3d.runs.line_contract import is_number
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
# Contexts that were looked at by the first versions lack it.
ATTENTION = {
    "attention_over_agents": "tokens' attention over agents",
    "attention_over_tokens": "agents' attention over tokens",
    "effective_tokens": "tokens that differ",
}
# Where an agent is alone, or nothing varies:
UNANSWERED = ("alignment_with_teammates", "variance_explained", "personal_share", *ATTENTION)
NUMBERS = (*RECOVERY, *ATTENTION, "gate_deviation", *GATES)


@dataclass(frozen=True)
class Context:
    """One run's context.json, by team size."""

    rollouts: int
    by_size: dict[int, dict[str, Any]]


def contexts(runs: Runs, task: str) -> dict[str, list[Context]]:
    """By method, the contexts of its finished runs that have one."""
    found = {method: read_contexts(runs.finished(task, method)) for method in runs.methods(task)}
    return {method: several for method, several in found.items() if several}


def rollouts_of(found: dict[str, list[Context]]) -> str:
    counts = sorted({context.rollouts for several in found.values() for context in several})
    return " or ".join(map(str, counts))


def gate_table(runs: Runs, task: str) -> Table | None:
    """What the same policies return when their gate is forced, by split."""
    found, splits, scale = contexts(runs, task), runs.splits(task), task_title(task).scale
    rows = [
        (
            f"{method_title(method)}, {label}",
            *(_text(several, sizes, name, scale) for sizes in splits.values()),
        )
        for method, several in found.items()
        for name, label in GATES.items()
    ]
    return make_table(heading("gate", task, rollouts=rollouts_of(found)), ("Policy", *splits), rows)


def recovery_table(runs: Runs, task: str) -> Table | None:
    """How close students come to the teacher's contexts, and how much the gate lets in, by split."""
    rows = [
        (f"{method_title(method)}, {split}", *(_text(several, sizes, name) for name in RECOVERY))
        for method, several in contexts(runs, task).items()
        for split, sizes in runs.splits(task).items()
    ]
    return make_table(heading("recovery", task), ("Policies", *RECOVERY.values()), rows)


def teacher_table(runs: Runs, task: str) -> Table | None:
    """How the teacher reads a team, by split, of those whose attention was looked at."""
    rows = [
        (f"{method_title(method)}, {split}", *texts)
        for method, several in contexts(runs, task).items()
        for split, sizes in runs.splits(task).items()
        if set(texts := [_text(several, sizes, name) for name in ATTENTION]) != {NOTHING}
    ]
    return make_table(heading("teacher", task), ("Policies", *ATTENTION.values()), rows)


def _text(several: list[Context], sizes: tuple[int, ...], name: str, scale: float = 1.0) -> str:
    by_seed = means_over_sizes(several, sizes, name)
    return NOTHING if by_seed is None else spread_text(over_seeds(by_seed * scale))


def means_over_sizes(several: list[Context], sizes: tuple[int, ...], name: str) -> np.ndarray | None:
    """One quantity of every seed that has all of the sizes; nothing where a seed has no answer at any."""
    whole = [each.by_size for each in several if sizes and all(size in each.by_size for size in sizes)]
    by_seed = np.array([[by_size[size][name] for size in sizes] for by_size in whole])
    return None if not whole or np.isnan(by_seed).all(axis=1).any() else np.nanmean(by_seed, axis=1)


def read_contexts(runs: Iterable[Run]) -> list[Context]:
    """What evaluation left of the runs' contexts, where they have any."""
    return [_read(run) for run in runs if run.context_file.exists()]


def _read(run: Run) -> Context:
    content = read_table(run.context_file)
    try:
        told = content["by_size"].items()
        by_size = {int(size): {**dict.fromkeys(ATTENTION), **found} for size, found in told}
        for found in by_size.values():
            unanswered = [name for name in UNANSWERED if found[name] is None]
            found.update({name: _finite(found[name]) for name in NUMBERS if name not in unanswered})
            found.update(dict.fromkeys(unanswered, math.nan))
            found["alignment_by_step"] = [_finite(value) for value in found["alignment_by_step"]]
        return Context(int(content["rollouts"]), by_size)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        raise BadInput(
            f"{run.context_file} is not a table of contexts as pc3d evaluate writes it: "
            "evaluate the run again"
        ) from None


def _finite(value: Any) -> float:
    number = float(value)
    if not is_number(number):
        raise ValueError
    return number
