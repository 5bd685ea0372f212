"""Being told to stop: Ctrl-C and SIGTERM become a wish that the training loop grants when it is safe.

Every other command, and training before its loop, ends at once.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stop:
    """Whether somebody asked the run to stop."""

    asked = False


@contextmanager
def stop_signals() -> Iterator[Stop]:
    """Ctrl-C and SIGTERM end a run after its present update, saved."""
    stop = Stop()

    def ask(number: int, frame: FrameType | None) -> None:
        del number, frame
        stop.asked = True

    try:
        before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # only a main thread can be signalled
        before = {}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM ends a command as Ctrl-C does: it cleans up and says one sentence."""
    try:
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    except ValueError:  # only a main thread can be signalled
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
