"""Standing between the program and the operating system: calls are counted, and one of them goes wrong."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CALLS = ("open", "write", "fsync", "close", "replace", "unlink", "rename", "truncate", "ftruncate", "mkdir")
DIED = 9
Fault = Callable[[str, tuple[Any, ...]], None]


@contextmanager
def watched(before: Fault) -> Iterator[list[str]]:
    """The names of the calls made in the block; `before` sees each of them first, and may raise or die."""
    made: list[str] = []

    def watch(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            made.append(name)
            before(name, arguments)
            return real(*arguments, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, watch(name, getattr(os, name)))
        yield made


def calls_of(action: Callable[[], None]) -> list[str]:
    """The calls an action makes when all goes well."""
    with watched(lambda *_: None) as made:
        action()
    return made


def die_at(action: Callable[[], None], number: int, *, torn: bool = False) -> int:
    """Do it in a child that dies before its call of that number, or after half of a write; its exit code."""

    def die(name: str, arguments: tuple[Any, ...]) -> None:
        if len(made) - 1 < number:
            return
        if torn and name == "write":
            handle, content = arguments
            # Past `os.write`, which is watched: what a cut of power leaves of a write.
            with open(handle, "wb", buffering=0, closefd=False) as file:
                file.write(bytes(content)[: len(content) // 2])
        os._exit(DIED)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the child of a process with threads may not use them, and does not
        child = os.fork()
    if child == 0:
        try:
            with watched(die) as made:
                action()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def refuse_at(folder: Path, name: str, number: int, error: int) -> Fault:
    """A fault: the operating system refuses the call of that name and number to a file in the folder."""
    seen = -1

    def refuse(called: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if called == name and str(folder) in _place(arguments[0]):
            seen += 1
            if seen >= number:  # a disk that is full stays so
                raise OSError(error, os.strerror(error), _place(arguments[0]))

    return refuse


def _place(target: Any) -> str:
    """The path that a call is about, which may be given as an open file's number."""
    return os.readlink(f"/proc/self/fd/{target}") if isinstance(target, int) else str(target)
