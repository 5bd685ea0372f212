"""Import paths such as `my_package.my_task:make`: code that runs only because a user named it."""

import re
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from pc3d.system.errors import BadInput, shortened

MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
# What somebody's code may raise. An exit, too: ours would otherwise be a success in the middle of the work.
OWN_ERRORS = (Exception, SystemExit)
PC3D, STANDARD_LIBRARY = Path(__file__).parents[1], sysconfig.get_path("stdlib")
INSTALLED = {"site-packages", "dist-packages"}
LONGEST_WORDS = 300  # of an error: some are a page long
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
    """An error of somebody's code in one line, with the place there where it was raised."""
    try:
        words = shortened(" ".join(str(error).split()), LONGEST_WORDS)
    except OWN_ERRORS:  # even its words are somebody's code
        words = ""
    return f"{type(error).__name__}{': ' if words else ''}{words}{place_of(error)}"


def place_of(error: BaseException) -> str:
    """In brackets, the last line of somebody's own code that led to an error, or else of a package."""
    if isinstance(error, SyntaxError) and error.filename:
        return ""  # its words have the place
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
    own = [frame for frame in frames if not INSTALLED & set(Path(frame.filename).parts)]
    last = (own or frames)[-1:]
    return "".join(f" ({Path(frame.filename).name}, line {frame.lineno})" for frame in last)


def _is_ours(file: str) -> bool:
    """Whether it is of pc3d, or of Python, whose lines tell nobody what to mend in a task."""
    path = Path(file)
    of_python = path.is_relative_to(STANDARD_LIBRARY) and not INSTALLED & set(path.parts)
    return file.startswith("<") or path.is_relative_to(PC3D) or of_python


@contextmanager
def current_folder_importable() -> Iterator[None]:
    """While a task is looked at, and after all that is installed: no file here replaces a package."""
    folder = str(Path.cwd())
    sys.path.append(folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
