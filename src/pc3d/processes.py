"""How a worker process is tied to the one that started it."""

import ctypes
import os
import signal
import sys

END_WITH_PARENT = "PC3D_END_WITH_PARENT"  # set in a worker's environment by whoever starts it
SET_PARENT_DEATH_SIGNAL = 1  # Linux: prctl's PR_SET_PDEATHSIG


def end_with_parent_if_asked() -> None:
    """If the parent is killed, save and end, too, instead of holding a run's folder (Linux only)."""
    if os.environ.pop(END_WITH_PARENT, None) and sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)
