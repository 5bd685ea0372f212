"""A run's folder: what stands where, and which of its checkpoints is the newest good one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, TypeVar

from pc3d.experiment.settings import Experiment
from pc3d.presets.experiment_file import read_experiment, to_plain
from pc3d.runs.checkpoint import load_tree, save_tree
from pc3d.system.checked_json import CHECKSUM, read_checked, write_checked
from pc3d.system.errors import BadInput, DamagedFile
from pc3d.system.files import check_digests, digests_in, refuse_oddities
from pc3d.system.plain import differences

KEPT_CHECKPOINTS = 2
DIGESTED = ("metrics.jsonl", "final.safetensors")
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
        self.replay = self.path / "replay"
        self.final = self.path / "final.safetensors"
        self.done_file = self.path / "done.json"

    def create(self) -> None:
        self.checkpoints.mkdir(parents=True, exist_ok=True)
        refuse_oddities(self.path)

    def adopt(self, experiment: Experiment, about: dict[str, Any]) -> None:
        """Make this the folder of an experiment, or refuse if it already is another's."""
        if not self.experiment_file.exists():
            write_checked(self.experiment_file, {"experiment": to_plain(experiment), **about})
            return
        changed = differences(self.experiment(), experiment)
        if changed:
            raise BadInput(
                f"{self.path} holds another experiment ({'; '.join(changed)}): use another --folder"
            )
        if self.done:
            self.check_whole()
        elif self._content().get("versions") != about["versions"]:
            print(
                f"pc3d: {self.path} was begun with other versions of Python or packages than these; "
                "it continues, but not bit for bit as it would have then",
                file=sys.stderr,
            )

    def experiment(self) -> Experiment:
        """The experiment this folder belongs to."""
        return read_experiment(self._content().get("experiment"), str(self.experiment_file))

    def _content(self) -> dict[str, Any]:
        if not self.experiment_file.exists():
            raise BadInput(f"{self.path} is not a run: it has no experiment.json")
        return read_checked(self.experiment_file, ("experiment", "return_definition", "versions"))

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

    def newest_checkpoint(self, like: Tree, experiment: Experiment) -> tuple[Tree, dict[str, Any]] | None:
        """The newest checkpoint that is whole; a damaged one is named and passed over.

        One of another experiment than the given one is refused, and so are damaged ones without a whole one
        among them: starting from nothing would in the end remove what might still be saved of them.
        """
        files = self._checkpoint_files()
        for path in reversed(files):
            try:
                learner, description = load_tree(path, like)
            except DamagedFile as error:
                print(f"pc3d: {error}; going back to the checkpoint before it", file=sys.stderr)
                continue
            _refuse_another(path, description, experiment)
            return learner, description
        if files:
            raise DamagedFile(
                f"no checkpoint in {self.checkpoints} is whole: remove that folder to begin anew"
            )
        return None

    def finish(self, summary: dict[str, Any]) -> None:
        """Say that all is done, with digests of what was left behind."""
        write_checked(self.done_file, {**summary, "digests": digests_in(self.path, DIGESTED)})

    def record(self, original: RunFolder) -> None:
        """Say that this is a record of another run, whose metrics were thinned out."""
        recorded = digests_in(self.path, DIGESTED)
        write_checked(self.done_file, {**original._done_content(), "recorded": recorded})

    def check_whole(self) -> None:
        """Refuse a finished run whose metrics or policy are no longer what training left."""
        content = self._done_content()
        if CHECKSUM in content:  # in records of the first versions, the digests are of other metrics
            check_digests(self.path, DIGESTED, content.get("recorded", content.get("digests")))

    def _done_content(self) -> dict[str, Any]:
        try:
            return read_checked(self.done_file, ("episodes", "updates", "digests", "recorded"))
        except DamagedFile as error:
            raise DamagedFile(
                f"{error}; remove it, and the same pc3d train finishes the run again from its last checkpoint"
            ) from None

    def _checkpoint_files(self) -> list[Path]:
        return sorted(self.checkpoints.glob("[0-9]*.safetensors"))


def policy_description(experiment: Experiment, return_definition: str) -> dict[str, Any]:
    """What a policy file says about itself."""
    return {"kind": "policy", "experiment": to_plain(experiment), "return_definition": return_definition}


def _refuse_another(path: Path, description: dict[str, Any], experiment: Experiment) -> None:
    if description.get("kind") != "checkpoint" or "gathering" not in description:
        raise BadInput(f"{path} is not a checkpoint")
    of = read_experiment(description.get("experiment"), str(path))
    changed = differences(of, experiment)
    if changed:
        raise BadInput(f"{path} is a checkpoint of another experiment ({'; '.join(changed)}): remove it")
