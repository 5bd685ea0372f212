"""Being told to stop: Ctrl-C and SIGTERM become a wish that the training loop grants when it is safe.

Every other command, and training before its loop, ends at once.
"""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

TOLD_TO_STOP = (signal.SIGINT, signal.SIGTERM)
SECONDS_UNTIL_AGAIN = 0.01


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
        before = {number: signal.signal(number, ask) for number in TOLD_TO_STOP}
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
        before = {
            number: signal.signal(number, signal.default_int_handler)
            for number in (signal.SIGTERM, signal.SIGALRM)
        }
    except ValueError:  # only a main thread can be signalled
        yield
        return
    hook = sys.unraisablehook

    def again(lost: "sys.UnraisableHookArgs") -> None:
        # The signal came while Python ran a finalizer or a callback of its garbage collector. Those may not
        # raise, so the interrupt was dropped there: it is raised again when they are likely to be over.
        if issubclass(lost.exc_type, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, SECONDS_UNTIL_AGAIN)
        else:
            hook(lost)

    sys.unraisablehook = again
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


def ignore_signals() -> None:
    """For whoever is stopped by another process, or is about to end anyway."""
    for number in TOLD_TO_STOP:
        signal.signal(number, signal.SIG_IGN)
