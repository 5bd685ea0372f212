"""Being told to stop: Ctrl-C and SIGTERM become a wish that the training loop grants when it is safe.

Every other command, and training before its loop, ends at once.
"""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from pc3d.system.errors import Interrupted

TOLD_TO_STOP = (signal.SIGINT, signal.SIGTERM)
SECONDS_UNTIL_AGAIN = 0.01
Handler = Callable[[int, FrameType | None], None]


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

    with _handled_by(ask, *TOLD_TO_STOP):
        yield stop


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM ends a command as Ctrl-C does: it cleans up and says one sentence.

    Not every moment bears an interrupt. Modules written in C++ abort if it comes while they are imported: it
    waits until they are, unless it is asked for twice. Finalizers and callbacks of the garbage collector may
    not raise, so that it is dropped there: then it is raised again a little later. And some places, such as
    the making of a class, put another error in its place: that one becomes an interrupt again.
    """
    stop, hook = Stop(), sys.unraisablehook

    def interrupt(number: int, frame: FrameType | None) -> None:
        insisted = stop.asked and number != signal.SIGALRM
        stop.asked = True
        if _importing(frame) and not insisted:
            later()
        else:
            signal.default_int_handler(number, frame)

    def later() -> None:
        signal.setitimer(signal.ITIMER_REAL, SECONDS_UNTIL_AGAIN)

    def again(lost: "sys.UnraisableHookArgs") -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            later()
        else:
            hook(lost)

    sys.unraisablehook = again
    try:
        with _handled_by(interrupt, *TOLD_TO_STOP, signal.SIGALRM):
            yield
    except Interrupted:
        raise
    except Exception as error:
        if stop.asked:
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = hook


def _importing(frame: FrameType | None) -> bool:
    """Whether what is being done is part of an import."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


@contextmanager
def _handled_by(handler: Handler, *numbers: signal.Signals) -> Iterator[None]:
    """For a while; but what nohup or a shell's background has us ignore stays ignored."""
    heard = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    before = {}
    try:
        for number in heard:
            before[number] = signal.signal(number, handler)
    except ValueError:  # only a main thread can be signalled
        pass
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def forget_interrupts() -> None:
    """So that the exit code is ours.

    Python ends itself by SIGINT if an interrupt came while a string was executed, as dataclasses and named
    tuples do when they are made, even if it was handled. It forgets that when the next string is executed.
    """
    exec("")


def ignore_signals() -> None:
    """For whoever is stopped by another process, or is about to end anyway."""
    for number in TOLD_TO_STOP:
        signal.signal(number, signal.SIG_IGN)
