"""What the lines of a run's files hold. Whoever reads a run reads them here, and what is not so is damage."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pc3d.runs.metrics import Line, last_line, read_lines
from pc3d.system.errors import DamagedFile

LARGEST_COUNT = 10**12
LARGEST_NUMBER = 1e100  # so large that its square is still a number; no world's return is near it
Check = Callable[[Line], None]


def read_metrics(path: Path) -> list[Line]:
    """The numbers of training; none if there is no file."""
    return [_held(line, path, _metrics) for line in read_lines(path)]


def newest_metrics(path: Path) -> Line | None:
    """The last line of them alone."""
    line = last_line(path)
    return line and _held(line, path, _metrics)


def read_evaluations(path: Path) -> list[Line]:
    """The scores on the way, where there were any."""
    return [_held(line, path, _evaluation) for line in read_lines(path)]


def read_clock(path: Path) -> list[Line]:
    """How long each sitting of a run took."""
    return [_held(line, path, _sitting) for line in read_lines(path)]


def is_number(value: Any) -> bool:
    """Whether it is one that can be averaged and squared."""
    return _is_numeric(value) and abs(value) <= LARGEST_NUMBER  # which nothing that is not finite is


def _held(line: Line, path: Path, check: Check) -> Line:
    try:
        check(line)
    except _Broken as broken:
        raise DamagedFile(f"{path} is damaged: {broken}") from None
    return line


class _Broken(Exception):
    """In which way a line is not what it should be."""


def _metrics(line: Line) -> None:
    for name in ("update", "episodes", "stage"):
        _count(line, name, 1)
    _number(line, "return")
    for size, pair in _by_size(line).items():
        if not isinstance(pair, list) or len(pair) != 2:
            raise _Broken(f"a line has no count and mean for {size} agents")
        told = {"count": pair[0], "mean": pair[1]}
        _count(told, "count", 1)
        _number(told, "mean")
    for name, value in line.items():
        # An algorithm may say of itself what it likes, as long as it is a number, if not a finite one.
        if name != "return_by_size" and not _is_numeric(value):
            raise _Broken(f"a line has {name[:60]!r} that is not a number")


def _evaluation(line: Line) -> None:
    for name in ("update", "episodes"):
        _count(line, name, 1)
    means = _by_size(line)
    for size in means:
        _number(means, size)


def _sitting(line: Line) -> None:
    _count(line, "updates", 0)
    _number(line, "seconds", 0.0)


def _by_size(line: Line) -> dict[str, Any]:
    table = line.get("return_by_size")
    if not isinstance(table, dict) or not table:
        raise _Broken("a line has no table return_by_size")
    for size in table:
        if not (size.isascii() and size.isdigit() and len(size) <= 9 and int(size) > 0):
            raise _Broken(f"a line has returns for {size[:60]!r} agents")
    return table


def _count(table: dict[str, Any], name: str, low: int) -> None:
    value = table.get(name)
    if type(value) is not int or not low <= value <= LARGEST_COUNT:
        raise _Broken(f"a line has no {name} that is a whole number from {low}")


def _number(table: dict[str, Any], name: str, low: float = -math.inf) -> None:
    value: Any = table.get(name)
    if not is_number(value) or value < low:
        raise _Broken(f"a line has no {name} that is a number{'' if low == -math.inf else f' from {low:g}'}")


def _is_numeric(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
