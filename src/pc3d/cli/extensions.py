"""`pc3d --with MODULE COMMAND ...`: methods, algorithms and tasks of your own, wherever a name is asked for.

A module has any of the dictionaries METHODS, CRITICS, CONDITIONINGS, ALGORITHMS and TASKS, as the package has
them. Its code runs because the user named it; processes that a command starts are told by their environment.
"""

import os
from typing import Any

from pc3d.system.errors import BadInput
from pc3d.system.imports import load_module

OPTION = "--with"
TOLD = "PC3D_WITH"  # in the environment: the modules, separated by commas


def load_extensions(words: list[str]) -> list[str]:
    """Load what is named before a command, or by the process that started this one; the words after it."""
    named = [name for name in os.environ.get(TOLD, "").split(",") if name]
    while words[:1] == [OPTION]:
        if len(words) == 1:
            raise BadInput(f"{OPTION} needs a module, such as my_package.my_methods")
        named, words = [*named, words[1]], words[2:]
    for name in dict.fromkeys(named):
        _add(name)
    if named:
        os.environ[TOLD] = ",".join(dict.fromkeys(named))
    return words


def named_extensions() -> bool:
    return bool(os.environ.get(TOLD))


def _add(name: str) -> None:
    # Imported only if something is added, so that help comes at once.
    from pc3d.experiment.methods import METHODS
    from pc3d.learners.registry import ALGORITHMS
    from pc3d.networks.conditioning import CONDITIONINGS
    from pc3d.networks.critics import CRITICS
    from pc3d.tasks.registry import TASKS

    known: dict[str, dict[Any, Any]] = {
        "METHODS": METHODS,
        "CRITICS": CRITICS,
        "CONDITIONINGS": CONDITIONINGS,
        "ALGORITHMS": ALGORITHMS,
        "TASKS": TASKS,
    }
    module = load_module(name)
    found = {table: entries for table in known if (entries := getattr(module, table, None)) is not None}
    if not found:
        raise BadInput(f"the module {name} has nothing to add: none of {', '.join(known)}")
    for table, entries in found.items():
        for key, entry in entries.items():
            if known[table].get(key, entry) is not entry:
                raise BadInput(
                    f"{name} has a {key} in {table}, and pc3d has one already: choose another name"
                )
            known[table][key] = entry
