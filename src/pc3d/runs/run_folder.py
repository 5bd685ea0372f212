"""A run's folder: what stands where, and which of its checkpoints is the newest good one."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pc3d.experiment.experiment import Experiment
from pc3d.presets.experiment_file import read_experiment, to_plain
from pc3d.runs import done_file
from pc3d.runs.done_file import read_done, write_done
from pc3d.runs.lengthening import forget_outcome, is_earlier, keep_finished, kept_in, lengthened
from pc3d.system.checked_json import read_checked, write_checked
from pc3d.system.errors import BadInput, DamagedFile
from pc3d.system.files import refuse_oddities
from pc3d.system.plain import differences, in_short

KEPT_CHECKPOINTS = 2
OWN_FOLDERS = ("checkpoint", "replay", "replays", "tensorboard")
Tree = TypeVar("Tree")


class RunFolder:
    """Paths and the small files; every write is atomic or an append that a resume cuts back."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.experiment_file = self.path / done_file.EXPERIMENT
        self.metrics = self.path / "metrics.jsonl"
        self.clock = self.path / "clock.jsonl"
        self.evaluations = self.path / "evaluations.jsonl"
        self.checkpoints = self.path / "checkpoint"
        self.replay = self.path / "replay"
        self.final = self.path / done_file.POLICY
        self.done_file = self.path / done_file.NAME

    def create(self) -> None:
        refuse_oddities(self.path, OWN_FOLDERS)
        self.checkpoints.mkdir(parents=True, exist_ok=True)

    def adopt(self, experiment: Experiment, about: dict[str, Any]) -> Experiment:
        """Make this the folder of an experiment, or refuse if it already is another's.

        What it gives back is to be trained: where it got longer, the experiment says so.
        """
        self.check_whole()
        if not self.experiment_file.exists():
            write_checked(self.experiment_file, {"experiment": to_plain(experiment), **about})
            return experiment
        found = self.experiment()
        if (longer := lengthened(found, experiment, self.path)) is not None:
            return self._lengthen(longer, about)
        changed = differences(replace(found, lengthened_from=()), replace(experiment, lengthened_from=()))
        if changed:
            raise BadInput(
                f"{self.path} holds another experiment ({in_short(changed)}): {self._elsewhere(experiment)}"
            )
        if not self.done and self._content().get("versions") != about["versions"]:
            print(
                f"pc3d: {self.path} was begun with other versions of Python or packages than these; "
                "it continues, but not bit for bit as it would have then",
                file=sys.stderr,
            )
        return found

    def _lengthen(self, longer: Experiment, about: dict[str, Any]) -> Experiment:
        files = self._checkpoint_files()
        if not files:
            raise BadInput(f"{self.path} cannot get longer: it has no checkpoint to go on from")
        begins = int(files[-1].stem) * longer.episodes_per_update
        said = (
            f"pc3d: {self.path} goes on from {begins:,} to {longer.episodes:,} episodes; "
            "from here on, stages and learning rate are those of the longer run"
        )
        if self.done:
            kept = keep_finished(self.path, longer.lengthened_from[-1])
            said += f"; until it is finished, the run that was finished stays in {kept}"
        forget_outcome(self.path)
        write_checked(self.experiment_file, {"experiment": to_plain(longer), **about})
        print(said, file=sys.stderr)
        return longer

    def _elsewhere(self, experiment: Experiment) -> str:
        """Where an experiment that this folder does not hold is, or can be."""
        kept = kept_in(self.path, experiment.episodes)
        if kept.is_dir() and is_earlier(experiment, self.experiment()):
            return f"what it was before it got longer is in {kept}"
        return "use another --folder"

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
        from pc3d.runs.checkpoint import save_tree  # with JAX behind it, which looking at a run does without

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
        from pc3d.runs.checkpoint import load_tree

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
        """Say that all is done."""
        write_done(self.path, summary)

    def check_whole(self) -> None:
        """Refuse a run that leads out of its folder, or that is no longer what training left of it."""
        refuse_oddities(self.path, OWN_FOLDERS)
        self._refuse_lost_experiment()
        if finished := read_done(self.path):
            finished.check(self.path)

    def _refuse_lost_experiment(self) -> None:
        """Only experiment.json says whose numbers these are: without it they could be anybody's."""
        if self.experiment_file.exists():
            return
        left = [path for path in (self.done_file, self.final, self.metrics) if path.exists()]
        for path in left + self._checkpoint_files():
            raise DamagedFile(
                f"{self.experiment_file} is missing, and only it says of which experiment {path.name} is: "
                "take it from a backup, or use another folder"
            )

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
    if changed and not is_earlier(of, experiment):
        raise BadInput(f"{path} is a checkpoint of another experiment ({in_short(changed)}): remove it")
