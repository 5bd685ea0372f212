"""The same numbers as metrics.jsonl, for Weights & Biases; needs the extra `wandb`.

Nothing leaves the machine unless the user says so: the run is offline, and errors are reported to nobody.
"""

import os
from pathlib import Path
from typing import Any

os.environ.setdefault("WANDB_ERROR_REPORTING", "false")  # read when the package is imported

import wandb

from pc3d.experiment.experiment import Experiment
from pc3d.presets.experiment_file import to_plain
from pc3d.runs.watcher import Watcher
from pc3d.system.files import digest_of

PROJECT = "pc3d"
OFFLINE = "offline"
LENGTH_OF_ID = 16


def place() -> str:
    """Where its numbers go, in words."""
    mode = os.environ.get("WANDB_MODE", OFFLINE)
    folder = Path(os.environ.get("WANDB_DIR", "."), "wandb")
    return f"Weights & Biases ({mode}): {folder}"


class WeightsAndBiases(Watcher):
    """A watcher that logs one run; the horizontal axis is episodes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.run: Any = None

    def started(self, experiment: Experiment, episodes: int) -> None:
        del episodes
        self.run = wandb.init(
            mode=os.environ.get("WANDB_MODE", OFFLINE),
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            group=f"{experiment.task} {experiment.method}",
            name=f"{experiment.task} {experiment.method} seed {experiment.seed}",
            # The same for each sitting of a run: its offline pieces are one run when they are synchronised.
            id=digest_of(str(self.folder).encode())[:LENGTH_OF_ID],
            resume="allow",
            config={**to_plain(experiment), "folder": str(self.folder)},
            settings=wandb.Settings(silent=True, console="off"),
        )
        self.run.define_metric("*", step_metric="episodes")

    def logged(self, line: dict[str, Any]) -> None:
        self.run.log(line)

    def evaluated(self, line: dict[str, Any]) -> None:
        self.run.log({name if name == "episodes" else f"evaluation/{name}": line[name] for name in line})

    def warned(self, sentence: str) -> None:
        self.run.alert(title="pc3d", text=sentence)

    def ended(self, done: bool) -> None:
        if self.run is not None:
            self.run.finish(exit_code=0 if done else 1)
