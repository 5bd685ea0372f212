"""A replay on disk: a file for each round, written once, and removed when no checkpoint needs it any more.

A checkpoint names the rounds that were held when it was made. What is newer is written again after a resume.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from pc3d.learners.replay import Replay
from pc3d.play.episode import Episode
from pc3d.runs.checkpoint import from_bytes, named_arrays, to_bytes
from pc3d.system.errors import DamagedFile
from pc3d.system.files import digest_of, read_bytes, write_atomically
from pc3d.system.plain import from_plain

LARGEST_ROUND = 2**32  # bytes
MOST_ROUNDS = 8000  # which a checkpoint can name, in a description of at most a mebibyte
KIND = {"kind": "replayed episodes"}
NAMES = f"{'[0-9]' * 9}.safetensors"


@dataclass(frozen=True)
class HeldRound:
    """What a checkpoint says of a round: a file of another run, or of another round, is not taken for it."""

    number: int
    digest: str


class ReplayFolder:
    """The rounds of one run."""

    def __init__(self, path: Path, replay: Replay) -> None:
        self.path, self.replay = path, replay
        self._digests: dict[int, str] = {}  # of the files, by their rounds' numbers
        self._needed: list[int] = []  # the oldest round that each of the last checkpoints needs

    def write_newest(self) -> None:
        """Write the round that was played last."""
        number, episodes = self.replay.rounds[-1]
        arrays = named_arrays(episodes)
        read_back: Any = jax.tree.structure(_from_arrays(arrays))
        assert read_back == jax.tree.structure(episodes), "what is kept must be one array or a table of them"
        content = to_bytes(arrays, KIND)
        self.path.mkdir(exist_ok=True)
        write_atomically(self._file(number), content)
        self._digests[number] = digest_of(content)

    def held(self) -> list[dict[str, Any]]:
        """What a checkpoint says of the replay."""
        return [asdict(HeldRound(number, self._digests[number])) for number, _ in self.replay.rounds]

    def restore(self, held: Any) -> None:
        """Read back what a checkpoint names."""
        for one in from_plain(tuple[HeldRound, ...], held, "the replay of a checkpoint"):
            self.replay.rounds.append((one.number, _read(self._file(one.number), one.digest)))
            self._digests[one.number] = one.digest
        self._needed = self._numbers()[:1]

    def checkpointed(self, kept: int) -> None:
        """Remove the rounds that none of the last so many checkpoints needs."""
        self._needed = [*self._needed, *self._numbers()[:1]][-kept:]
        self._digests = {number: self._digests[number] for number in self._numbers()}
        for file in self.path.glob(NAMES):
            if int(file.stem) < min(self._needed):
                file.unlink()

    def _numbers(self) -> list[int]:
        return [number for number, _ in self.replay.rounds]

    def _file(self, number: int) -> Path:
        return self.path / f"{number:09d}.safetensors"


def _read(path: Path, digest: str) -> Episode:
    content = read_bytes(path, LARGEST_ROUND)
    if digest_of(content) != digest:
        raise DamagedFile(f"{path} is damaged: it is not what this run wrote there")
    arrays, description = from_bytes(content, str(path))
    try:
        episodes = _from_arrays(arrays)
    except (TypeError, ValueError):  # a part that is missing, unknown, or an array and a table at once
        raise DamagedFile(f"{path} does not hold played episodes") from None
    if description.get("kind") != KIND["kind"] or named_arrays(episodes).keys() != arrays.keys():
        raise DamagedFile(f"{path} does not hold played episodes")
    return episodes


def _from_arrays(arrays: dict[str, np.ndarray]) -> Episode:
    """Episodes from their parts' dotted names; what has several parts is a table of them."""
    parts: dict[str, Any] = {"measures": {}, "kept": None, "global_states": None, "allowed": None}
    for name, array in arrays.items():
        part, _, inner = name.partition(".")
        parts[part] = {**(parts.get(part) or {}), inner: array} if inner else array
    return Episode(**parts)
