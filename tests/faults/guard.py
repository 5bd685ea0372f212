"""Watching what reading a file does: code that runs, files that change elsewhere, time and memory."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RUNS_CODE = ("pickle.find_class", "os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen")
REACHES_OUT = ("socket.connect", "ctypes.dlopen", "sqlite3.enable_load_extension")
# Python itself compiles and imports much, such as the text of annotations: only what the file says counts.
TURNS_INTO_CODE = ("import", "compile")
CHANGES_FILES = (
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.mkdir",
    "os.truncate",
    "os.symlink",
    "shutil.rmtree",
)
HOSTILE_WORDS = ("trap_module", "__import__", "os.system")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@dataclass
class Seen:
    """What happened while somebody looked."""

    code: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    seconds: float = 0.0
    megabytes: float = 0.0


_now: Seen | None = None
_hooked = False


@contextmanager
def watching() -> Iterator[Seen]:
    """All that the block runs, changes and takes. Time is this process's own: others may be busy."""
    global _now, _hooked  # noqa: PLW0603 - an audit hook cannot be taken off, so there is one for all tests
    if not _hooked:
        sys.addaudithook(_hook)
        _hooked = True
    gc.collect()
    seen = Seen()
    Path("/proc/self/clear_refs").write_text("5")  # forget the highest use of memory so far
    before, began = _highest_memory(), time.process_time()
    _now = seen
    try:
        yield seen
    finally:
        _now = None
        seen.seconds = time.process_time() - began
        seen.megabytes = _highest_memory() - before


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _now is None or (event == "open" and isinstance(arguments[0], int)):
        return  # a file that was already seen being opened
    if event in RUNS_CODE + REACHES_OUT or (event in TURNS_INTO_CODE and _said_by_file(arguments[0])):
        _now.code.append(f"{event} {str(arguments[:1])[:200]}")
    elif event in CHANGES_FILES or (
        event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING
    ):
        _now.changed.append(_place(event, arguments))


def _place(event: str, arguments: tuple[Any, ...]) -> str:
    """The whole path; what is removed may be named from an open folder."""
    folder = arguments[1] if event in ("os.remove", "os.rmdir") else -1
    beginning = os.readlink(f"/proc/self/fd/{folder}") if folder >= 0 else os.getcwd()
    return os.path.abspath(os.path.join(beginning, os.fsdecode(arguments[0])))


def _said_by_file(source: object) -> bool:
    return any(word in str(source) for word in HOSTILE_WORDS)


def _highest_memory() -> float:
    """In megabytes, since the last reset."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith("VmHWM"))
    return int(kilobytes) / 1024
