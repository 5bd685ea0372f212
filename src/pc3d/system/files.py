"""Files that are there whole or not at all, that have one owner, and that are what they seem."""

import contextlib
import fcntl
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from pc3d.system.errors import BadInput, DamagedFile

LARGEST_TEXT = 64 * 2**20  # bytes; the longest replay and the longest table of scores are far below
LARGEST_DIGESTED = 2**32  # bytes; a long run's metrics, a large policy


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file in one step: after a crash it holds the old bytes or the new ones."""
    temporary = path.with_name(f".{path.name}.new")
    # A crash may have left one. It is never written through: it could be a link to somewhere else.
    temporary.unlink(missing_ok=True)
    _write(temporary, content, os.O_EXCL, synced=True)
    os.replace(temporary, path)
    sync(path.parent)


def append(path: Path, content: bytes) -> None:
    """Add to the end of a file; a crash may leave a part of it."""
    _write(path, content, os.O_APPEND)


def sync(path: Path) -> None:
    """Make what was written to a file, or renamed and removed in a folder, survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_bytes(path: Path, largest: int = LARGEST_TEXT) -> bytes:
    """An ordinary file's content; pipes, devices and files beyond that size are refused unread."""
    try:
        # Without O_NONBLOCK, opening a pipe would wait for somebody to write into it.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise DamagedFile(f"{path} is not an ordinary file")
            if status.st_size > largest:
                raise DamagedFile(f"{path} is not what it should be: it is larger than {largest // 1024} KiB")
            return file.read(status.st_size)
    except OSError as error:
        raise DamagedFile(f"{path} cannot be read: {error.strerror}") from None


def read_text(path: Path, largest: int = LARGEST_TEXT) -> str:
    """An ordinary file's content as text."""
    try:
        return read_bytes(path, largest).decode()
    except UnicodeDecodeError:
        raise DamagedFile(f"{path} is not text in UTF-8") from None


def digest_of(content: bytes) -> str:
    """By which content is recognised."""
    return hashlib.sha256(content).hexdigest()


def digests_in(folder: Path, patterns: Iterable[str]) -> dict[str, str]:
    """The digests of the files in a folder that are named so, by their place in it."""
    found = sorted({path for pattern in patterns for path in folder.glob(pattern)})
    return {
        path.relative_to(folder).as_posix(): digest_of(read_bytes(path, LARGEST_DIGESTED)) for path in found
    }


def check_digests(folder: Path, patterns: Iterable[str], expected: object) -> None:
    """Refuse a file named so that is not what it was when the digests were taken."""
    known = expected if isinstance(expected, dict) else {}
    for name, digest in digests_in(folder, patterns).items():
        if known.get(name) != digest:
            raise DamagedFile(f"{folder / name} is damaged: it is not what pc3d wrote there")


def refuse_oddities(folder: Path) -> None:
    """Refuse a folder with links, pipes or devices in it: what is written to them ends somewhere else."""
    for entry in sorted(folder.iterdir()):
        if entry.is_symlink() or not (entry.is_file() or entry.is_dir()):
            raise BadInput(f"{entry} is neither an ordinary file nor a folder: a run has nothing else in it")


@contextlib.contextmanager
def one_owner(folder: Path) -> Iterator[None]:
    """Hold the folder for this process; the kernel lets go of it when the process dies."""
    with open(folder / "lock", "a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
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


def _write(path: Path, content: bytes, how: int, *, synced: bool = False) -> None:
    """Through the operating system directly: what returned is written, and nothing waits in a buffer."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o666)
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(handle, left) :]
        if synced:
            os.fsync(handle)
    finally:
        os.close(handle)
