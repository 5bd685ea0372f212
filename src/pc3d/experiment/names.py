"""What a task or a method may be called."""

import re

from pc3d.system.errors import BadInput

NAME = re.compile(r"\w[\w-]*([.:]\w[\w-]*)*")  # also an own task's import path
LONGEST_NAME = 120  # bytes; most systems admit 255 for a folder


def check_name(name: str, where: str = "") -> None:
    """Refuse what cannot be the name of a task or method, which becomes a part of a folder's name."""
    if not NAME.fullmatch(name) or len(name.encode()) > LONGEST_NAME:
        raise BadInput(f"{where and f'{where}: '}a task or method cannot be called {name[:60]!r}")
