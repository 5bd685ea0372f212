"""Which parity case belongs to which task; a case is imported only when asked for."""

from importlib import import_module

from pc3d.errors import unknown_name
from pc3d.parity.case import ParityCase

CASES = {
    "spread": "pc3d.parity.spread",
    "lbf": "pc3d.parity.foraging",
    "rware": "pc3d.parity.warehouse",
}


def parity_case(task_name: str) -> ParityCase:
    """What to compare for that task."""
    if task_name not in CASES:
        raise unknown_name("task", task_name, CASES)
    case: ParityCase = import_module(CASES[task_name]).CASE
    return case
