"""done.json: that a run is finished, and what belongs to it. All that reads a run holds the folder to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pc3d.system.checked_json import CHECKSUM, read_checked, write_checked
from pc3d.system.errors import DamagedFile
from pc3d.system.files import check_digests, digests_in

NAME = "done.json"
EXPERIMENT, POLICY = "experiment.json", "final.safetensors"
BELONGING = (EXPERIMENT, "metrics.jsonl", "evaluations.jsonl", "clock.jsonl", POLICY)
NAMED_AT_FIRST = ("metrics.jsonl", POLICY)  # all that the first versions named
Digests = dict[str, str]  # of files, by name


@dataclass(frozen=True)
class Done:
    """What done.json says."""

    trained: Digests
    """What training left."""
    kept: Digests
    """What belongs to this folder: of a record, thinner metrics, and perhaps no policy."""
    recorded: bool
    checked: bool
    """Whether it has a checksum; in records of the first versions, the digests are of other metrics."""

    @property
    def of_first_versions(self) -> bool:
        """Whether it was trained when only some of what belongs to a run was named."""
        return EXPERIMENT not in self.trained

    def check(self, folder: Path) -> None:
        """Refuse a folder in which something is missing, or is not what was written there."""
        if self.checked:
            known = BELONGING if EXPERIMENT in self.kept else NAMED_AT_FIRST
            check_digests(folder, known, self.kept, self.kept)


def write_done(folder: Path, summary: dict[str, Any]) -> None:
    """Say that all is done, and name what belongs to the run."""
    write_checked(folder / NAME, {**summary, "digests": digests_in(folder, BELONGING)})


def write_recorded(folder: Path, original: Path) -> None:
    """Say that a folder is the record of another run."""
    recorded = digests_in(folder, BELONGING)
    write_checked(folder / NAME, {**_content(original / NAME), "recorded": recorded})


def read_done(folder: Path) -> Done | None:
    """None if the run is not finished."""
    path = folder / NAME
    if not path.exists():
        return None
    content = _content(path)
    trained = _digests(content.get("digests", {}), path)
    kept = _digests(content.get("recorded", trained), path)
    return Done(trained, kept, "recorded" in content, CHECKSUM in content)


def _content(path: Path) -> dict[str, Any]:
    try:
        return read_checked(path, ("episodes", "updates", "digests", "recorded"))
    except DamagedFile as error:
        raise DamagedFile(
            f"{error}; remove it, and the same pc3d train finishes the run again from its last checkpoint"
        ) from None


def _digests(named: Any, path: Path) -> Digests:
    known = isinstance(named, dict) and named.keys() <= set(BELONGING)
    if not known or not all(isinstance(digest, str) for digest in named.values()):
        raise DamagedFile(f"{path} is damaged: it does not name what belongs to a run")
    return named
