"""The same numbers as metrics.jsonl, for TensorBoard; needs the extra `tensorboard`.

Events are appended in this thread, file opened and closed each time: the package's own writer keeps a second
thread, which prints tracebacks of its own when a disk is full.
"""

import struct
import time
from pathlib import Path
from typing import Any

from tensorboardX.proto.event_pb2 import Event, SessionLog
from tensorboardX.record_writer import masked_crc32c

from pc3d.experiment.experiment import Experiment
from pc3d.runs.flat_line import TABLE, with_table
from pc3d.runs.watcher import Watcher
from pc3d.system.files import append, explained

FILE_VERSION = "brain.Event:2"


class TensorBoard(Watcher):
    """A watcher that writes events; the horizontal axis is episodes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "tensorboard"

    def started(self, experiment: Experiment, episodes: int) -> None:
        del experiment
        now = time.time()
        self.path = self.folder / f"events.out.tfevents.{int(now)}.pc3d"
        with explained(f"writing to {self.folder}"):
            self.folder.mkdir(exist_ok=True)
        self._append(Event(wall_time=now, file_version=FILE_VERSION))
        # A resumed run plays again what came after its checkpoint: those events are purged.
        start = SessionLog(status=SessionLog.START)
        self._append(Event(wall_time=now, step=episodes + 1, session_log=start))

    def logged(self, line: dict[str, Any]) -> None:
        told = with_table(line)
        event = Event(wall_time=time.time(), step=line["episodes"])
        for name, value in told.items():
            if isinstance(value, float):
                event.summary.value.add(tag=f"training/{name}", simple_value=value)
        for size, (_, mean) in told[TABLE].items():
            event.summary.value.add(tag=f"return_by_team_size/{size}", simple_value=mean)
        self._append(event)

    def evaluated(self, line: dict[str, Any]) -> None:
        event = Event(wall_time=time.time(), step=line["episodes"])
        for size, mean in with_table(line)[TABLE].items():
            event.summary.value.add(tag=f"evaluation_by_team_size/{size}", simple_value=mean)
        self._append(event)

    def _append(self, event: Event) -> None:
        # In the run's own folder a refused write ends the run, as it does everywhere there.
        with explained(f"writing to {self.folder}"):
            append(self.path, _record(event.SerializeToString()))


def _record(data: bytes) -> bytes:
    """TensorFlow's record format: length, its checksum, data, its checksum."""
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked_crc32c(length)) + data + struct.pack("<I", masked_crc32c(data))
