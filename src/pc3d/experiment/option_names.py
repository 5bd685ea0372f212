"""The settings of a run by the names that their options have, found by looking so that none is forgotten."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

# Chosen by other means, or found.
NEVER_OPTIONS = ("task", "method", "mixes", "world", "origin", "lengthened-from", "rosters.sealed-largest")


def options_for(owner: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting of a record and of what it is made of, such as ppo.learning-rate, with its value."""
    for field in fields(owner):
        value = getattr(owner, field.name)
        # An algorithm's settings go by its own name, and a task's rules by none.
        name = before + getattr(type(value), "section", field.name).replace("_", "-")
        if is_dataclass(value) and name not in NEVER_OPTIONS:
            yield from options_for(value, f"{name}." if name else "")
        elif isinstance(value, tuple) and value and is_dataclass(value[0]):
            for place, part in enumerate(value):
                yield from options_for(part, f"{name}.{place}.")
        elif name not in NEVER_OPTIONS:
            yield name, value
