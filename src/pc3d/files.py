"""Files that are there whole or not at all."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from pc3d.errors import BadInput


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file in one step: after a crash it holds the old bytes or the new ones."""
    temporary = path.with_name(f".{path.name}.new")
    with open(temporary, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames and removals in the folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def one_owner(folder: Path) -> Iterator[None]:
    """Hold the folder for this process; the kernel lets go of it when the process dies."""
    with open(folder / "lock", "a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInput(f"another process is already working in {folder}") from None
        yield


@contextlib.contextmanager
def explained(action: str) -> Iterator[None]:
    """Turn the operating system's refusals (full disk, read-only folder) into one sentence."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        place = f" ({error.filename})" if error.filename else ""
        raise BadInput(f"{action} was not possible: {reason}{place}") from None
