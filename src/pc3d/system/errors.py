"""The few ways this program can fail, each with the exit code the command line gives it."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches


class Pc3dError(Exception):
    """Anything we expect may go wrong: its message is the one sentence a user reads."""

    exit_code = 2


class BadInput(Pc3dError):
    """The user asked for something that cannot be; the sentence says what would be possible."""


class DamagedFile(BadInput):
    """A file that is not what was once written."""


class MissingExtra(BadInput):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"this needs the package {package}, of the extra {extra}: pip install -e '.[{extra}]' in the "
            f"checkout, or pip install 'FILE.whl[{extra}]' with the wheel that pc3d was installed from"
        )


class Diverged(Pc3dError):
    """Training produced a number that is not finite."""

    exit_code = 3


class Interrupted(Pc3dError):
    """Stopped by a signal; everything is saved and the same command continues."""

    exit_code = 75


LONGEST_NAME = 60  # of a wrong name that is repeated to the user: it may come from a hostile file


def refuse_unknown(kind: str, name: str, known: Collection[str]) -> None:
    """Refuse a name that is not in a table."""
    if name not in known:
        raise unknown_name(kind, name, known)


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    """As much of a name as a sentence bears."""
    return name if len(name) <= longest else name[: longest - 3] + "..."


def unknown_name(kind: str, name: str, known: Iterable[str]) -> BadInput:
    """The error for a name that is not in a table, with the nearest one that is."""
    known = list(known)
    name = shortened(name)
    meant = get_close_matches(name, known, n=1)
    hint = f"perhaps you meant {meant[0]}; " if meant else ""
    return BadInput(f"there is no {kind} called {name!r}: {hint}there are {', '.join(known)}")
