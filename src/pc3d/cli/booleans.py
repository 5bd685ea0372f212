"""Truth values on the command line, the same everywhere: --name alone means True, and --name False is no."""

from collections.abc import Collection
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any, get_type_hints

TRUTHS = {"true": "True", "false": "False"}


def booleans_of(command: Any) -> set[str]:
    """The options of a command that are truth values."""
    if not is_dataclass(command):
        return set()
    hints = get_type_hints(command)
    return {field.name.replace("_", "-") for field in fields(command) if hints[field.name] is bool}


def with_values(words: list[str], booleans: Collection[str], *, names_follow: bool = True) -> list[str]:
    """The words with every truth value written out; names may follow options, but not in every command."""
    spelt = {f"--{name}": [f"--{name}", "True"] for name in booleans}
    spelt |= {f"--no-{name}": [f"--{name}", "False"] for name in booleans}
    written: list[str] = []
    for word, following in pairwise([*words, ""]):
        option = word.replace("_", "-")
        if option not in spelt:
            written.append(TRUTHS.get(word.lower(), word))
        elif following.lower() in TRUTHS or not (names_follow or following.startswith("-") or not following):
            written.append(option)
        else:
            written += spelt[option]
    return written
