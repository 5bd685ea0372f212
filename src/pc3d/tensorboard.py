"""The same numbers as metrics.jsonl, for TensorBoard; needs the extra `tensorboard`."""

from pathlib import Path
from typing import Any

from tensorboardX import SummaryWriter

from pc3d.settings import Experiment


class TensorBoard:
    """A watcher that writes events; the horizontal axis is episodes."""

    def __init__(self, folder: Path, episodes: int) -> None:
        # A resumed run plays again what came after its checkpoint: those events are purged.
        self.writer = SummaryWriter(str(folder / "tensorboard"), purge_step=episodes + 1)

    def started(self, experiment: Experiment, episodes: int) -> None:
        del experiment, episodes

    def played(self, episodes: int) -> None:
        del episodes

    def logged(self, line: dict[str, Any]) -> None:
        episodes = line["episodes"]
        for name, value in line.items():
            if isinstance(value, float):
                self.writer.add_scalar(f"training/{name}", value, episodes)
        for size, (_, mean) in line["return_by_size"].items():
            self.writer.add_scalar(f"return by team size/{size}", mean, episodes)
