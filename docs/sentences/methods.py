"""Two tables of the README, made from the methods' rows: what each has, and what it needs when it acts."""

from __future__ import annotations

from collections.abc import Iterable

from pc3d.experiment.execution import NEIGHBOURS, Execution
from pc3d.experiment.methods import METHODS, OURS, Method
from pc3d.report.tables.table import NOTHING

CRITICS = {
    "local": "local value",
    "joint": "all observations, padded",
    "mean": "mean of encodings",
    "tokens": "coordination tokens",
    "mean-utility": "mean of utilities",
    "joint-mixer": "mixer of all observations, padded",
    "mean-mixer": "mixer of the mean of encodings",
    "token-mixer": "mixer of coordination tokens",
    "entity-mixer": "mixer of all entities",
    "joint-action": "all observations and actions, padded",
    "token-action": "coordination tokens and actions",
    "joint-alternatives": "alternatives, from all observations and actions, padded",
    "token-alternatives": "alternatives, from coordination tokens and actions",
}
CONDITIONINGS = {"film": "FiLM", "hypernetwork": "hypernetwork head"}
GATES = {"adaptive": "learned", "off": "always 0", "on": "always 1"}


def method_table() -> str:
    """One row per method: its critic, its context, its gate."""
    rows = [(f"`{name}`", *_cells(method)) for name, method in METHODS.items()]
    return _pipes(("method", "critic", "context", "gate"), rows)


def execution_table() -> str:
    """The paper's table of execution-time assumptions, with ours last."""
    headings = ("", "central module", "messages", "privileged information", "fully decentralized")
    ours = (f"**{cell}**" if cell == "yes" else cell for cell in _needs(METHODS[OURS].execution))
    rows = [(name, *_needs(execution)) for name, execution in NEIGHBOURS.items()]
    return _pipes((*headings, "further assumptions"), [*rows, (f"**{OURS.upper()}**", *ours)])


def _cells(method: Method) -> tuple[str, str, str]:
    critic = CRITICS.get(method.critic, method.critic)
    if not method.has_context:
        return critic, NOTHING, NOTHING
    way = CONDITIONINGS.get(method.conditioning, method.conditioning)
    return critic, f"{'' if method.distils else 'not '}distilled, {way}", GATES[method.gate]


def _needs(execution: Execution) -> tuple[str, ...]:
    parts = (execution.central_module, execution.messages, execution.privileged, execution.decentralized)
    return *("yes" if part else NOTHING for part in parts), execution.further or NOTHING


def _pipes(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(headings), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
