"""Two tables of the README, made from the methods' rows: what there is, and what it needs when it acts."""

from __future__ import annotations

from collections.abc import Iterable

from pc3d.experiment.execution import NEIGHBOURS, Execution
from pc3d.experiment.methods import METHODS, OURS
from pc3d.report.tables.table import NOTHING

# What methods learn by, with the page that tells of it.
LEARNERS = {
    "ppo": "[PPO](docs/method.md)",
    "happo": "[PPO in turns (HAPPO)](docs/happo.md)",
    "q": "[Q-learning, values mixed](docs/value_factorisation.md)",
    "maddpg": "[MADDPG](docs/off_policy.md)",
    "matd3": "[MATD3](docs/off_policy.md)",
    "masac": "[MASAC](docs/off_policy.md)",
    "graph": "[PPO with messages](docs/neighbours.md)",
    "ptde": "[PPO, then a student (PTDE)](docs/distilled_students.md)",
    "ctds": "[Q-learning with a student (CTDS)](docs/distilled_students.md)",
    "aqmix": "[Q-learning, entity by entity](docs/neighbours.md#entity-by-entity)",
    "refil": "[the same with imagined groups (REFIL)](docs/neighbours.md#entity-by-entity)",
    "sog": "[the same with groups that talk (SOG)](docs/neighbours.md#conductors-and-followers)",
    "copa": "[the same with a coach (COPA)](docs/neighbours.md#a-coach)",
    "mipi": "[the same at a price for information (MIPI)](docs/neighbours.md#a-price-for-information)",
}


def method_table() -> str:
    """One row for what methods learn by: those without a context, and those with PC3D's."""
    rows = [
        (LEARNERS.get(section, section), *(_named(section, has_context) for has_context in (False, True)))
        for section in dict.fromkeys(method.algorithm.section for method in METHODS.values())
    ]
    return _pipes(("learns by", "methods", "with PC3D's context"), rows)


def execution_table() -> str:
    """The paper's table of execution-time assumptions, with ours last."""
    headings = ("", "central module", "messages", "privileged information", "fully decentralized")
    ours = (f"**{cell}**" if cell == "yes" else cell for cell in _needs(METHODS[OURS].execution))
    rows = [(name, *_needs(execution)) for name, execution in NEIGHBOURS.items()]
    return _pipes((*headings, "further assumptions"), [*rows, (f"**{OURS.upper()}**", *ours)])


def _named(section: str, has_context: bool) -> str:
    found = [
        f"`{name}`"
        for name, method in METHODS.items()
        if method.algorithm.section == section and method.has_context == has_context
    ]
    return ", ".join(found) or NOTHING


def _needs(execution: Execution) -> tuple[str, ...]:
    parts = (execution.central_module, execution.messages, execution.privileged, execution.decentralized)
    return *("yes" if part else NOTHING for part in parts), execution.further or NOTHING


def _pipes(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(headings), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
