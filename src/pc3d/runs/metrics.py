"""The numbers of training: gathered over some updates, written as one line, cut back on a resume."""

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from pc3d.runs.flat_line import Line, flat, with_table
from pc3d.system.bounds import Bounded, Range
from pc3d.system.errors import BadInput, DamagedFile
from pc3d.system.files import LARGEST_DIGESTED, append, digest_of, opened, read_bytes, sync

Sums = dict[str, list[Any]]  # by name: of how many, and their sum
LONGEST_LINE = 2**20  # bytes; real ones have about a thousand


class Gathering:
    """Sums since the last line. It travels with the checkpoint, so that no line is lost or doubled."""

    def __init__(self, saved: dict[str, Any] | None = None) -> None:
        saved = saved or {"sums": {}, "returns": {}}
        try:
            self.sums = {name: [int(n), float(total)] for name, (n, total) in saved["sums"].items()}
            self.returns = {size: [int(n), float(total)] for size, (n, total) in saved["returns"].items()}
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            raise BadInput("a checkpoint holds sums that no training has written: remove it") from None

    def plain(self) -> dict[str, Any]:
        return {"sums": self.sums, "returns": self.returns}

    def add(self, numbers: dict[str, float], team_sizes: np.ndarray, returns: np.ndarray) -> None:
        """Take in one update: its scalars, and the return of every episode it played."""
        for name, value in numbers.items():
            if not math.isnan(value):  # it had no answer here, as teams of one have none about teammates
                _add(self.sums, name, value)
        for size, value in zip(team_sizes, returns, strict=True):
            _add(self.returns, str(size), float(value))

    def line(self, update: int, episodes: int, stage: int) -> Line:
        """The means since the last line; a return's mean comes with how many episodes it has."""
        by_size = sorted(self.returns.items(), key=lambda item: int(item[0]))
        count = sum(pair[0] for _, pair in by_size)
        return {
            "update": update,
            "episodes": episodes,
            "stage": stage,
            "return": sum(pair[1] for _, pair in by_size) / count,
            "return_by_size": {size: [number, total / number] for size, (number, total) in by_size},
            **{name: total / number for name, (number, total) in sorted(self.sums.items())},
        }


def _add(sums: Sums, name: str, value: float) -> None:
    pair = sums.setdefault(name, [0, 0.0])
    pair[0] += 1
    pair[1] += value


@dataclass(frozen=True)
class Written(Bounded):
    """How much of a file of lines a checkpoint relies on."""

    size: Annotated[int, Range(0, LARGEST_DIGESTED)]
    digest: str


@dataclass(frozen=True)
class WrittenLines:
    """What a checkpoint says of them."""

    metrics: Written
    evaluations: Written


class LineFile:
    """A file of JSON lines that only grows, but for what a resume plays again."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def written(self) -> Written:
        """What there is now."""
        content = self._content()
        return Written(len(content), digest_of(content))

    def cut_to(self, relied_on: Written) -> None:
        """Drop what came after a checkpoint: it will be written again, bit for bit."""
        if digest_of(self._content()[: relied_on.size]) != relied_on.digest:
            raise DamagedFile(
                f"{self.path} is damaged or missing: it is not what this run had written before its "
                "checkpoint; take it from a backup, or begin anew in another folder"
            )
        if self.path.exists():
            with opened(self.path, change=True) as file:
                file.truncate(relied_on.size)

    def cut_after(self, update: int) -> None:
        """The same for a checkpoint of the first versions, which tells no more than its update."""
        if not self.path.exists():
            return
        kept, torn = 0, False
        with opened(self.path, change=True) as file:
            for line in file:
                of = _update_of(line)
                torn = torn or of > update
                if not torn:
                    kept += len(line)
                elif of <= update:  # a crash tears only what comes after a checkpoint
                    raise DamagedFile(f"{self.path} is damaged: a line before update {update} cannot be read")
            file.truncate(kept)

    def cut_torn(self) -> None:
        """Drop the beginning of a line that a crash or a full disk left, or the next one would join it."""
        if self.path.exists():
            with opened(self.path, change=True) as file:
                file.truncate(file.read().rfind(b"\n") + 1)

    def append(self, line: Line) -> None:
        append(self.path, as_bytes(line))

    def sync(self) -> None:
        """On disk before the checkpoint that relies on it."""
        if self.path.exists():
            sync(self.path)

    def _content(self) -> bytes:
        return read_bytes(self.path, LARGEST_DIGESTED) if self.path.exists() else b""


def as_bytes(line: Line) -> bytes:
    """A line as a file has it."""
    return (json.dumps(flat(line), sort_keys=True) + "\n").encode()


def _update_of(line: bytes) -> float:
    """A line's update; a torn line, as a crash leaves it, counts as later than any."""
    try:
        return float(json.loads(line)["update"]) if line.endswith(b"\n") else float("inf")
    except (ValueError, KeyError, TypeError, RecursionError):
        return float("inf")


def episodes_in(line: Line) -> int:
    """How many episodes a line stands for: what it weighs in a mean of lines."""
    return sum(count for count, _ in line["return_by_size"].values())


def read_lines(path: Path) -> list[Line]:
    """All whole lines of such a file; none if there is no file."""
    if not path.exists():
        return []
    *whole, _ = read_bytes(path, LARGEST_DIGESTED).split(b"\n")
    return [_parsed(line, path) for line in whole]


def last_line(path: Path) -> Line | None:
    """The newest whole line; displays ask for it twice a second, so the others are not read."""
    if not path.exists():
        return None
    with opened(path) as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - LONGEST_LINE))
        *whole, _ = file.read().split(b"\n")
    return _parsed(whole[-1], path) if whole else None


def _parsed(line: bytes, path: Path) -> Line:
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):
        raise DamagedFile(f"{path} is damaged: one of its lines is not JSON") from None
    if not isinstance(parsed, dict):
        raise DamagedFile(f"{path} is damaged: one of its lines is not a table")
    return with_table(parsed)
