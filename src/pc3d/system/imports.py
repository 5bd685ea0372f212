"""Import paths such as `my_package.my_task:make`: code that runs only because a user named it."""

import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from pc3d.system.errors import BadInput

MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
# What somebody's code may raise. An exit, too: ours would otherwise be a success in the middle of the work.
OWN_ERRORS = (Exception, SystemExit)
PATH = re.compile(rf"{MODULE.pattern}:[A-Za-z_]\w*")


def is_import_path(name: str) -> bool:
    """Whether a task's name is a path into somebody's code; the names of our own tasks have no colon."""
    return ":" in name


def folder_name(task: str) -> str:
    """A task's or method's name as that of a folder or file: without the colon, which some systems refuse."""
    return task.replace(":", ".")


def load_object(path: str, table: str = "") -> Any:
    """What the path names. Call it for words of the command line only, never for what a file says.

    A table is one of the module's dictionaries in which the name may stand, too.
    """
    if not PATH.fullmatch(path):
        raise BadInput(f"own code is named module:name, such as my_package.my_task:make, not {path[:60]!r}")
    module_name, _, name = path.partition(":")
    module = load_module(module_name)
    rows = getattr(module, table, None)
    if isinstance(rows, dict) and name in rows:
        return rows[name]
    if not hasattr(module, name):
        raise BadInput(f"the module {module_name} has no {name}")
    return getattr(module, name)


def load_module(module_name: str) -> ModuleType:
    """A module by its dotted name; for words of the command line only, as well."""
    if not MODULE.fullmatch(module_name):
        raise BadInput(f"a module is named such as my_package.my_methods, not {module_name!r}")
    try:
        with current_folder_importable():
            return import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module_name}.".startswith(f"{error.name}."):
            raise BadInput(
                f"there is no module {error.name}: run pc3d in the folder that holds it, or install it"
            ) from None
        raise BadInput(f"{module_name} needs {error.name}, which is not installed") from None
    except OWN_ERRORS as error:
        raise BadInput(f"importing {module_name} failed: {described(error)}") from None


def described(error: BaseException) -> str:
    """An error of somebody's code in one line, with the place where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    try:
        words = " ".join(str(error).split())
    except OWN_ERRORS:  # even its words are somebody's code
        words = ""
    return f"{type(error).__name__}{': ' if words else ''}{words}{place}"


@contextmanager
def current_folder_importable() -> Iterator[None]:
    """While a task is looked at, and after all that is installed: no file here replaces a package."""
    folder = str(Path.cwd())
    sys.path.append(folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
