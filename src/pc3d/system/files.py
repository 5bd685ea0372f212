"""Files that are there whole or not at all, that have one owner, and that are what they seem."""

import contextlib
import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from pc3d.system.errors import BadInput, DamagedFile

LARGEST_TEXT = 64 * 2**20  # bytes; the longest replay and the longest table of scores are far below
LARGEST_DIGESTED = 2**32  # bytes; a long run's metrics, a large policy
# Without O_NONBLOCK, opening a pipe would wait for somebody at its other end.
NEVER_ELSEWHERE = os.O_NOFOLLOW | os.O_NONBLOCK


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file in one step: after a crash it holds the old bytes or the new ones."""
    temporary = path.with_name(f".{path.name}.new")
    # A crash may have left one. It is never written through: it could be a link to somewhere else.
    temporary.unlink(missing_ok=True)
    try:
        _write(temporary, content, os.O_EXCL, synced=True)
        os.replace(temporary, path)
    except OSError:  # a full disk is not left fuller
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync(path.parent)


def append(path: Path, content: bytes) -> None:
    """Add to the end of a file; a crash may leave a part of it."""
    _write(path, content, os.O_APPEND)


def open_empty(path: Path) -> BinaryIO:
    """A file to write to, emptied if it was there."""
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NEVER_ELSEWHERE, 0o666), "wb")


def sync(path: Path) -> None:
    """Make what was written to a file, or renamed and removed in a folder, survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_bytes(path: Path, largest: int = LARGEST_TEXT, *, follow: bool = False) -> bytes:
    """An ordinary file's content; links, pipes, devices and files beyond that size are refused unread.

    A path that a user wrote down may be a link, and is followed; what lies in a folder of ours may not.
    """
    with opened(path, follow=follow) as file:
        size = os.fstat(file.fileno()).st_size
        if size > largest:
            raise DamagedFile(f"{path} is not what it should be: it is larger than {largest // 1024} KiB")
        return file.read(size)


@contextlib.contextmanager
def opened(path: Path, *, follow: bool = False, change: bool = False) -> Iterator[BinaryIO]:
    """An ordinary file, to be read, or changed in its place; whatever else stands there is refused."""
    how = (os.O_RDWR if change else os.O_RDONLY) | NEVER_ELSEWHERE
    try:
        handle = os.open(path, how & ~os.O_NOFOLLOW if follow else how)
    except OSError as error:
        if error.errno == errno.ELOOP and not follow:
            raise DamagedFile(f"{path} is a link: what belongs into a folder must lie in it") from None
        raise DamagedFile(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:  # a name that no file can have, with a zero byte in it
        raise DamagedFile(f"{str(path)!r} cannot be the name of a file") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise DamagedFile(f"{path} is not an ordinary file")
    with open(handle, "rb+" if change else "rb") as file:
        yield file


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


def check_digests(folder: Path, patterns: Iterable[str], expected: object, needed: Iterable[str]) -> None:
    """Refuse files named so that are not what they were when the digests were taken, or are lost.

    Who asks says which are needed: some may be left behind on purpose.
    """
    known = expected if isinstance(expected, dict) else {}
    found = digests_in(folder, patterns)
    for name, digest in found.items():
        if known.get(name) != digest:
            raise DamagedFile(f"{folder / name} is damaged: it is not what pc3d wrote there")
    for name in needed:
        if name not in found:
            raise DamagedFile(f"{folder / name} is missing: take it from a backup")


def refuse_oddities(folder: Path, inner: Iterable[str] = ()) -> None:
    """Refuse a folder with links, pipes or devices in it, or in those of its folders that are named.

    What is written to them ends somewhere else, and what is read from them comes from there.
    """
    for place in (folder, *(folder / name for name in inner)):
        if place.is_dir():
            _refuse_oddities_in(place)


def _refuse_oddities_in(folder: Path) -> None:
    for entry in sorted(folder.iterdir()):
        if entry.is_symlink() or not (entry.is_file() or entry.is_dir()):
            raise BadInput(f"{entry} is neither an ordinary file nor a folder: a run has nothing else in it")


def refuse_links_between(folder: Path, place: Path) -> None:
    """Refuse a place in a folder that a link on the way puts somewhere else."""
    for part in (place, *place.parents):
        if part == folder:
            return
        if part.is_symlink():
            raise BadInput(f"{part} is a link: what belongs into {folder} must lie in it")


@contextlib.contextmanager
def one_owner(folder: Path) -> Iterator[None]:
    """Hold the folder for this process; the kernel lets go of it when the process dies."""
    path = folder / "lock"
    handle = os.open(path, os.O_RDWR | os.O_CREAT | NEVER_ELSEWHERE, 0o666)
    with open(handle, "rb+", buffering=0) as lock:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise BadInput(f"{path} is not an ordinary file: remove it")
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
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | NEVER_ELSEWHERE | how, 0o666)
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(handle, left) :]
        if synced:
            os.fsync(handle)
    finally:
        os.close(handle)
