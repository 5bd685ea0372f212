"""Other pc3d processes: how they are started, tied to their starter, and asked what went wrong."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pc3d.system.errors import Pc3dError
from pc3d.system.files import explained, open_empty, read_bytes, refuse_oddities

# -P: nothing in the current folder is imported, and never instead of a package, but a task that was named.
PYTHON = (sys.executable, "-P")
PARENT = "PC3D_END_WITH_PARENT"  # in a worker's environment: the process that started it
SET_PARENT_DEATH_SIGNAL = 1  # Linux: prctl's PR_SET_PDEATHSIG


def run_command(words: Sequence[str]) -> None:
    """Run one command in a process of its own, in full view; its failure is ours."""
    code = subprocess.run([*PYTHON, "-m", "pc3d", *words], check=False).returncode
    if code != 0:
        raise Pc3dError(f"pc3d {words[0]} ended with code {code}")


def start_worker(words: Sequence[str], errors: Path) -> "subprocess.Popen[bytes]":
    """Start a command in the background; what it complains about goes to a file (a pipe could fill up)."""
    with explained(f"writing to {errors.parent}"):
        errors.parent.mkdir(parents=True, exist_ok=True)
        refuse_oddities(errors.parent)
        with open_empty(errors) as file:
            return subprocess.Popen(
                [*PYTHON, "-m", "pc3d", *words],
                stdout=subprocess.DEVNULL,
                stderr=file,
                env=environment_of_child(),
            )


def environment_of_child(**more: str) -> dict[str, str]:
    """The environment for a process that shall end with this one."""
    return {**os.environ, PARENT: str(os.getpid()), **more}


def last_words(errors: Path, code: int) -> str:
    """The last line of a worker's complaints, or its exit code if it died without any."""
    content = read_bytes(errors) if errors.exists() else b""
    lines = content.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"ended with code {code}"


def end_with_parent_if_asked(death: signal.Signals = signal.SIGTERM) -> None:
    """If the parent is killed, save and end, too, instead of holding a run's folder (Linux only)."""
    parent = os.environ.pop(PARENT, None)
    if parent and sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, death)
        if str(os.getppid()) != parent:  # it died before we could ask to be told
            signal.raise_signal(death)
