"""A run's folder: what stands where, and which of its checkpoints is the newest good one."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from pc3d.checkpoint import DamagedFile, load_tree, save_tree
from pc3d.errors import BadInput
from pc3d.files import write_atomically
from pc3d.plain import differences, from_plain, parse
from pc3d.settings import Experiment

KEPT_CHECKPOINTS = 2
Tree = TypeVar("Tree")


class RunFolder:
    """Paths and the small files; every write is atomic or an append that a resume cuts back."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.experiment_file = self.path / "experiment.json"
        self.metrics = self.path / "metrics.jsonl"
        self.clock = self.path / "clock.jsonl"
        self.evaluations = self.path / "evaluations.jsonl"
        self.checkpoints = self.path / "checkpoint"
        self.final = self.path / "final.safetensors"
        self.done_file = self.path / "done.json"

    def create(self) -> None:
        self.checkpoints.mkdir(parents=True, exist_ok=True)

    def adopt(self, experiment: Experiment, about: dict[str, Any]) -> None:
        """Make this the folder of an experiment, or refuse if it already is another's."""
        if not self.experiment_file.exists():
            write_atomically(self.experiment_file, _json({"experiment": asdict(experiment), **about}))
            return
        changed = differences(self.experiment(), experiment)
        if changed:
            raise BadInput(
                f"{self.path} holds another experiment ({'; '.join(changed)}): use another --folder"
            )
        if not self.done and self._content().get("versions") != about["versions"]:
            print(
                f"pc3d: {self.path} was begun with other versions of Python or packages than these; "
                "it continues, but not bit for bit as it would have then",
                file=sys.stderr,
            )

    def experiment(self) -> Experiment:
        """The experiment this folder belongs to."""
        return from_plain(Experiment, self._content().get("experiment"), str(self.experiment_file))

    def _content(self) -> dict[str, Any]:
        where = str(self.experiment_file)
        try:
            content = parse(self.experiment_file.read_text(encoding="utf-8"), where)
        except (OSError, UnicodeDecodeError):
            raise BadInput(f"{self.path} is not a run: it has no readable experiment.json") from None
        if not isinstance(content, dict):
            raise BadInput(f"{where} is not an experiment")
        return content

    @property
    def done(self) -> bool:
        return self.done_file.exists()

    def save_checkpoint(self, update: int, learner: Any, description: dict[str, Any]) -> None:
        """Add a checkpoint, then drop the oldest beyond those kept."""
        path = self.checkpoints / f"{update:09d}.safetensors"
        save_tree(path, learner, {**description, "update": update})
        # What is numbered higher was damaged, and passed over when this run began.
        kept = [file for file in self._checkpoint_files() if file <= path][-KEPT_CHECKPOINTS:]
        for file in self._checkpoint_files():
            if file not in kept:
                file.unlink()

    def newest_checkpoint(self, like: Tree) -> tuple[Tree, dict[str, Any]] | None:
        """The newest checkpoint that is whole; a damaged one is named and passed over."""
        for path in reversed(self._checkpoint_files()):
            try:
                return load_tree(path, like)
            except DamagedFile as error:
                print(f"pc3d: {error}; going back to the checkpoint before it", file=sys.stderr)
        return None

    def finish(self, summary: dict[str, Any]) -> None:
        """Say that all is done, with digests of what was left behind."""
        digests = {path.name: _file_digest(path) for path in (self.metrics, self.final)}
        write_atomically(self.done_file, _json({**summary, "digests": digests}))

    def _checkpoint_files(self) -> list[Path]:
        return sorted(self.checkpoints.glob("[0-9]*.safetensors"))


def policy_description(experiment: Experiment, return_definition: str) -> dict[str, Any]:
    """What a policy file says about itself."""
    return {
        "kind": "policy",
        "experiment": asdict(experiment),
        "return_definition": return_definition,
    }


def _json(content: dict[str, Any]) -> bytes:
    return (json.dumps(content, sort_keys=True, indent=2) + "\n").encode()


def _file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
