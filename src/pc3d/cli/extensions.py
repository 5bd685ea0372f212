"""`pc3d --with MODULE COMMAND ...`: methods, algorithms and tasks of your own, wherever a name is asked for.

A module has any of the dictionaries METHODS, CRITICS, CONDITIONINGS, ALGORITHMS and TASKS, as the package has
them. Its code runs because the user named it; processes that a command starts are told by their environment.
"""

import os
from collections.abc import Iterable
from typing import Any

from pc3d.experiment.names import check_name
from pc3d.system.errors import BadInput
from pc3d.system.imports import OWN_ERRORS, described, is_import_path, load_module, load_object

OPTION = "--with"
PARTS = ("CRITICS", "CONDITIONINGS", "ALGORITHMS")  # what a method may be made of
TABLES = ("METHODS", *PARTS, "TASKS")
TOLD = "PC3D_WITH"  # in the environment: the modules, separated by commas
TOLD_METHODS = "PC3D_METHODS"  # and the methods that were named by their import paths


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
    for path in filter(None, os.environ.get(TOLD_METHODS, "").split(",")):
        admit_method(path)
    return words


def admit_method(path: str | None) -> None:
    """Make a method known that a user named by its import path.

    It is a row of the module's METHODS, a `Method`, or a function that gives one.
    """
    from pc3d.experiment.methods import METHODS, Method

    if path is None or path in METHODS:
        return
    found = load_object(path, "METHODS")
    _add_tables(path.partition(":")[0], PARTS)
    made = found if isinstance(found, Method) else _given_by(found, path)
    if not isinstance(made, Method):
        raise BadInput(f"{path} is no method: it must be a pc3d.experiment.methods.Method, or give one")
    METHODS[path] = made
    if made.parent is not None and is_import_path(made.parent):  # its child's code names it, not a file
        admit_method(made.parent)
    named = [name for name in os.environ.get(TOLD_METHODS, "").split(",") if name]
    os.environ[TOLD_METHODS] = ",".join(dict.fromkeys([*named, path]))


def _given_by(found: Any, path: str) -> Any:
    try:
        return found() if callable(found) else found
    except OWN_ERRORS as error:
        raise BadInput(f"{path} gives no method: {described(error)}") from None


def named_extensions() -> bool:
    return bool(os.environ.get(TOLD) or os.environ.get(TOLD_METHODS))


def _add(name: str) -> None:
    if not _add_tables(name, TABLES):
        raise BadInput(f"the module {name} has nothing to add: none of {', '.join(TABLES)}")


def _add_tables(name: str, wanted: Iterable[str]) -> bool:
    """Add what a module has of these tables; whether it has any."""
    module, known = load_module(name), _known_tables()
    found = {table: entries for table in wanted if (entries := getattr(module, table, None)) is not None}
    for table, entries in found.items():
        _check_entries(f"{name}.{table}", table, entries)
        for key, entry in entries.items():
            if known[table].get(key, entry) is not entry:
                raise BadInput(
                    f"{name} has a {key} in {table}, and pc3d has one already: choose another name"
                )
            known[table][key] = entry
    return bool(found)


def _check_entries(where: str, table: str, entries: Any) -> None:
    """Refuse what would only be noticed where a name is read: another kind of table, of name, or of entry."""
    from pc3d.experiment.methods import Method
    from pc3d.tasks.entry import TaskEntry

    if not isinstance(entries, dict):
        raise BadInput(f"{where} must be a dictionary, as the package has one")
    kinds: dict[str, type] = {"METHODS": Method, "TASKS": TaskEntry}
    if table not in kinds:
        return
    for key, entry in entries.items():
        if not isinstance(key, str):
            raise BadInput(f"{where}: names are text, not {key!r}")
        check_name(key, where)
        if not isinstance(entry, kinds[table]):
            wanted, given = kinds[table].__name__, type(entry).__name__
            raise BadInput(f"{where}: {key} must be a {wanted}, and it is of type {given}")


def _known_tables() -> dict[str, dict[Any, Any]]:
    # Imported only if something is added, so that help comes at once.
    from pc3d.experiment.methods import METHODS
    from pc3d.learners.registry import ALGORITHMS
    from pc3d.networks.conditioning import CONDITIONINGS
    from pc3d.networks.critics import CRITICS
    from pc3d.tasks.registry import TASKS

    return dict(zip(TABLES, (METHODS, CRITICS, CONDITIONINGS, ALGORITHMS, TASKS), strict=True))
