"""A replay on disk: a file for each round, written once, and removed when no checkpoint needs it any more.

A checkpoint names the rounds that were held when it was made. What is newer is written again after a resume.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pc3d.learners.replay import Replay
from pc3d.play.episode import Episode
from pc3d.runs.checkpoint import named_arrays, read_file, save_tree
from pc3d.system.errors import DamagedFile

LARGEST_ROUND = 2**32  # bytes
KIND = {"kind": "replayed episodes"}


class ReplayFolder:
    """The rounds of one run."""

    def __init__(self, path: Path, replay: Replay) -> None:
        self.path, self.replay = path, replay
        self._needed: list[int] = []  # the oldest round that each of the last checkpoints needs

    def write_newest(self) -> None:
        """Write the round that was played last."""
        number, episodes = self.replay.rounds[-1]
        self.path.mkdir(exist_ok=True)
        save_tree(self._file(number), episodes, KIND)

    def held(self) -> list[int]:
        """What a checkpoint says of the replay."""
        return [number for number, _ in self.replay.rounds]

    def restore(self, held: list[int]) -> None:
        """Read back what a checkpoint names."""
        for number in held:
            self.replay.rounds.append((number, _read(self._file(number))))
        self._needed = held[:1]

    def checkpointed(self, kept: int) -> None:
        """Remove the rounds that none of the last so many checkpoints needs."""
        self._needed = [*self._needed, *self.held()[:1]][-kept:]
        for file in self.path.glob("[0-9]*.safetensors"):
            if int(file.stem) < min(self._needed):
                file.unlink()

    def _file(self, number: int) -> Path:
        return self.path / f"{number:09d}.safetensors"


def _read(path: Path) -> Episode:
    arrays, description = read_file(path, LARGEST_ROUND)
    parts: dict[str, Any] = {"measures": {}, "kept": None, "global_states": None}
    for name, array in arrays.items():
        part, _, inner = name.partition(".")
        if inner:
            parts[part] = {**(parts[part] or {}), inner: array}
        else:
            parts[part] = array
    try:
        episodes = Episode(**parts)
    except TypeError:
        raise DamagedFile(f"{path} does not hold played episodes") from None
    if description.get("kind") != KIND["kind"] or named_arrays(episodes).keys() != arrays.keys():
        raise DamagedFile(f"{path} does not hold played episodes")
    return episodes
