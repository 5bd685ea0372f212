"""A job's folder in two places: what changed in one of them, as bytes, and how the other takes it over.

A copy may break off anywhere. So files are written in the order in which they rely on each other, done.json
and scores.csv last, and read in the reverse order: what a file relies on is then never older than itself.
"""

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pc3d.system.errors import BadInput
from pc3d.system.files import explained, write_atomically

# A checkpoint relies on the metrics before it; all else relies on nothing.
WRITTEN_LAST = ("checkpoint/", "final.safetensors", "done.json", "scores.csv")
NAME = re.compile(r"(?:[A-Za-z0-9][\w.-]*/)*[A-Za-z0-9][\w.-]*", re.ASCII)
OWN_TO_A_PLACE = ("lock",)


@dataclass(frozen=True)
class Piece:
    """A file from some byte on: all of it, or what was appended."""

    name: str
    start: int
    content: bytes


@dataclass(frozen=True)
class Changes:
    """What makes an older copy of a folder a newer one."""

    pieces: tuple[Piece, ...] = ()
    removed: tuple[str, ...] = ()


NO_CHANGES = Changes()


class Watch:
    """Sees what changes in a folder, from one look to the next."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen: dict[str, bytes] = {}

    def changes(self) -> Changes:
        """What is new since the last time this was asked; at first, everything."""
        before, self.seen = self.seen, self._contents()
        changed = (name for name, content in self.seen.items() if content != before.get(name))
        pieces = (_piece(name, before.get(name, b""), self.seen[name]) for name in changed)
        in_order = sorted(pieces, key=lambda piece: (_rank(piece.name), piece.name))
        return Changes(tuple(in_order), tuple(sorted(before.keys() - self.seen.keys())))

    def _contents(self) -> dict[str, bytes]:
        contents = {}
        for rank in reversed(range(len(WRITTEN_LAST) + 1)):
            for name in self._names():  # anew for each rank: a file may come while others are read
                if _rank(name) == rank:
                    with suppress(FileNotFoundError):  # an old checkpoint that was just dropped
                        contents[name] = (self.folder / name).read_bytes()
        return contents

    def _names(self) -> list[str]:
        paths = (path for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink())
        names = (path.relative_to(self.folder).as_posix() for path in paths)
        # What does not match the pattern is on its way to be another file (".scores.csv.new").
        return [name for name in names if NAME.fullmatch(name) and name not in OWN_TO_A_PLACE]


def take_over(changes: Changes, folder: Path) -> None:
    """Bring a folder up to date; if a name leads out of the folder, nothing is written at all."""
    names = [*(piece.name for piece in changes.pieces), *changes.removed]
    places = {name: _inside(folder, name) for name in names}
    with explained(f"writing to {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        for piece in changes.pieces:
            path = places[piece.name]
            path.parent.mkdir(parents=True, exist_ok=True)
            if piece.start == 0:
                write_atomically(path, piece.content)
            else:
                _append(path, piece)
        for name in changes.removed:
            places[name].unlink(missing_ok=True)


def _inside(folder: Path, name: str) -> Path:
    path = folder / name
    if not NAME.fullmatch(name) or not path.resolve().is_relative_to(folder.resolve()):
        raise BadInput(f"a node wanted to write {name!r}, which is not a file of a run: it was refused")
    return path


def _append(path: Path, piece: Piece) -> None:
    """Add to a file of lines; if that breaks off, a line is torn as after any crash, and a resume cuts it."""
    with open(path, "r+b") as file:
        if file.seek(0, os.SEEK_END) != piece.start:
            raise BadInput(f"{path} was changed by somebody else while a node worked on it")
        file.write(piece.content)
        file.flush()
        os.fsync(file.fileno())


def _piece(name: str, before: bytes, now: bytes) -> Piece:
    start = len(before) if now.startswith(before) else 0
    return Piece(name, start, now[start:])


def _rank(name: str) -> int:
    ranks = (rank for rank, start in enumerate(WRITTEN_LAST, 1) if name.startswith(start))
    return next(ranks, 0)
