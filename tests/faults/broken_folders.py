"""Run folders in which one thing is not as training left it: lost, cut, another run's, a link, or made up."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pc3d.runs.checkpoint import from_bytes, to_bytes
from pc3d.runs.done_file import BELONGING
from pc3d.system.checked_json import CHECKSUM, write_checked
from pc3d.system.files import digest_of
from tests.faults.test_fuzz import altered, mutated

SECRET = "the secret of somebody else"
NUMBERS = ("nan", "inf", "1e308", "-1e308", "-1", "0", "", "text", "9" * 400, "[/red]", "\x1b[2J", "x" * 300)


class Breaker:
    """Breaks copies of a whole folder, each in one way, drawn by chance."""

    def __init__(self, whole: Path, other: Path, outside: Path, seed: int) -> None:
        self.whole, self.other, self.outside = whole, other, outside
        self.chance = random.Random(seed)
        self.ways: dict[str, Callable[[Path], None]] = {
            "missing": self._lose,
            "cut short": self._cut,
            "another run's": self._swap,
            "a link to another file": self._link,
            "a link to nowhere": self._dangle,
            "a pipe": self._pipe,
            "a folder": self._folder,
            "mutated": self._mutate,
            "made up": self._make_up,
            "made up, and signed": self._make_up_and_sign,
            "a folder that is a link": self._link_folder,
        }

    def broken(self, place: Path) -> str:
        """A copy with something wrong in it, and what that is."""
        shutil.copytree(self.whole, place)
        self.place = place
        way = self.chance.choice(list(self.ways))
        if self.chance.random() < 0.25:  # unfinished runs are read, too
            (place / "done.json").unlink()
        files = sorted(path for path in place.rglob("*") if path.is_file())
        chosen = self.chance.choice(files)
        self.ways[way](chosen)
        return f"{chosen.relative_to(place)}: {way}"

    def _lose(self, file: Path) -> None:
        file.unlink()

    def _cut(self, file: Path) -> None:
        os.truncate(file, self.chance.randrange(file.stat().st_size))

    def _swap(self, file: Path) -> None:
        shutil.copy(self.other / file.relative_to(self.place), file)

    def _link(self, file: Path) -> None:
        target = self.outside / file.name
        target.write_text(f"{SECRET}\n") if self.chance.random() < 0.5 else shutil.copy(file, target)
        file.unlink()
        file.symlink_to(target)

    def _dangle(self, file: Path) -> None:
        file.unlink()
        file.symlink_to(self.outside / "not-there-yet")

    def _pipe(self, file: Path) -> None:
        file.unlink()
        os.mkfifo(file)

    def _folder(self, file: Path) -> None:
        file.unlink()
        file.mkdir()

    def _link_folder(self, file: Path) -> None:
        names = ("checkpoint", "replays", "tensorboard", "lock", "errors.log")
        folder = file.parent / self.chance.choice(names)
        target = self.outside / "elsewhere"
        target.mkdir(exist_ok=True)
        if folder.is_dir():
            shutil.rmtree(folder)
        folder.symlink_to(target)

    def _mutate(self, file: Path) -> None:
        file.write_bytes(mutated(file.read_bytes(), self.chance))

    def _make_up_and_sign(self, file: Path) -> None:
        """As somebody would who knows how digests are taken."""
        self._make_up(file)
        for named in ("done.json", "evaluation.json"):
            if (rules := file.parent / named).is_file() and rules != file:
                _sign(rules, file)

    def _make_up(self, file: Path) -> None:
        """The same shape, other content; JSON tables have a checksum that is right."""
        content = file.read_bytes()
        if file.suffix == ".json":
            table = altered(json.loads(content), self.chance)
            if isinstance(table, dict) and CHECKSUM in json.loads(content):
                write_checked(file, {name: value for name, value in table.items() if name != CHECKSUM})
            else:
                file.write_text(json.dumps(table))
        elif file.suffix == ".jsonl":
            lines = content.decode().splitlines()
            place = self.chance.randrange(len(lines))
            lines[place] = json.dumps(altered(json.loads(lines[place]), self.chance))
            file.write_text("\n".join(lines) + "\n")
        elif file.suffix == ".csv":
            file.write_text(self._altered_csv(content.decode()))
        elif file.suffix == ".safetensors":
            file.write_bytes(self._altered_arrays(content))
        else:
            self._mutate(file)

    def _altered_csv(self, text: str) -> str:
        rows = list(csv.reader(io.StringIO(text)))
        row = self.chance.choice(rows)
        row[self.chance.randrange(len(row))] = self.chance.choice(NUMBERS)
        made = io.StringIO()
        csv.writer(made, lineterminator="\n").writerows(rows)
        return made.getvalue()

    def _altered_arrays(self, content: bytes) -> bytes:
        arrays, description = from_bytes(content, "the whole file")
        if self.chance.random() < 0.5:
            name = self.chance.choice(sorted(arrays))
            arrays[name] = np.full_like(arrays[name], math.nan if arrays[name].dtype.kind == "f" else -1)
        else:
            described: Any = altered(description, self.chance)
            description = described if isinstance(described, dict) else {}
        return to_bytes(arrays, description)


def _sign(rules: Path, file: Path) -> None:
    """Put the file's new digest where its old one stood."""
    table = json.loads(rules.read_text())
    name = file.relative_to(rules.parent).as_posix()
    if name in BELONGING or name in table.get("digests", {}):
        table["digests"] = {**table["digests"], name: digest_of(file.read_bytes())}
    table.pop(CHECKSUM, None)
    write_checked(rules, table)
