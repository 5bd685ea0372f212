"""Looking at the machine: all that a result or a night of training depends on, and what is wrong with it."""

import os
import platform
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import distributions, requires
from pathlib import Path

import jax

from pc3d.benchmark.training import Beginning
from pc3d.experiment.network_settings import ActorSettings
from pc3d.presets.paper import paper, specialist
from pc3d.runs.checkpoint import named_arrays
from pc3d.system.files import digest_of
from pc3d.system.threads import ONE_THREAD
from pc3d.system.versions import versions

LITTLE_SPACE = 2**30  # bytes; a run with its checkpoints and events has tens of millions
REPEATS = 4
EXTRA = re.compile(r"([\w.-]+).*extra == ['\"]([\w-]+)['\"]")
FOR_DEVELOPERS = "dev"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    topic: str
    found: str
    trouble: str = ""
    """What is wrong and what to do, if anything is."""


def findings() -> Iterator[Finding]:
    """Everything there is to look at, the self-check last because it takes the longest."""
    yield Finding("versions", ", ".join(f"{name} {number}" for name, number in versions().items()))
    yield Finding("machine", f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores")
    yield threads()
    yield compilation_cache(Path(os.environ["JAX_COMPILATION_CACHE_DIR"]))
    yield disk(Path.cwd())
    yield extras()
    yield same_bits()


def threads() -> Finding:
    """One run is one thread: with more, equal seeds can give unequal bits."""
    names = ("NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    other = [f"{name}={os.environ.get(name)}" for name in names if os.environ.get(name) != "1"]
    if ONE_THREAD not in os.environ.get("XLA_FLAGS", ""):
        other.append("XLA_FLAGS")
    trouble = f"unset {', '.join(other)}: results depend on the number of threads" if other else ""
    return Finding("threads", "not pinned" if other else "pinned to one a run", trouble)


def compilation_cache(place: Path) -> Finding:
    """JAX unpickles what it finds in its cache, so nobody else may be able to write there."""
    if not place.exists():
        return Finding("compilation cache", f"{place}, not made yet")
    size = sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
    found = f"{place}, {size / 2**20:.0f} MB"
    if not os.access(place, os.W_OK):
        return Finding("compilation cache", found, f"{place} cannot be written: every start compiles anew")
    open_to_others = [one for one in (place, place.parent) if not _private(one)]
    trouble = f"others can write to {open_to_others[0]}: chmod go-w it" if open_to_others else ""
    return Finding("compilation cache", found, trouble)


def disk(place: Path) -> Finding:
    free = shutil.disk_usage(place).free
    trouble = f"less than {LITTLE_SPACE / 2**30:.0f} GB is free in {place}" if free < LITTLE_SPACE else ""
    return Finding("free disk", f"{free / 2**30:.1f} GB in {place}", trouble)


def extras() -> Finding:
    """Which optional parts are installed whole."""
    needed: dict[str, list[str]] = {}
    for match in map(EXTRA.match, requires("pc3d") or ()):
        if match and match[2] != FOR_DEVELOPERS:
            needed.setdefault(match[2], []).append(match[1])
    missing = [extra for extra, packages in needed.items() if not all(map(_installed, packages))]
    present = [extra for extra in needed if extra not in missing]
    found = f"installed: {', '.join(present) or 'none'}"
    return Finding("extras", found + (f"; not installed: {', '.join(missing)}" if missing else ""))


def same_bits() -> Finding:
    """Play and learn the same update several times, and compile it twice: all must agree to the last bit."""
    digests = []
    jax.config.update("jax_enable_compilation_cache", False)  # or the second program would be the first one
    try:
        for repeat in range(REPEATS):
            if repeat == REPEATS // 2:
                jax.clear_caches()
            digests.append(_small_update())
    finally:
        jax.config.update("jax_enable_compilation_cache", True)
    found = f"{REPEATS} updates, compiled twice, digest {digests[0][:12]}"
    trouble = "" if len(set(digests)) == 1 else "equal seeds gave unequal results on this machine"
    return Finding("self-check", found, trouble)


def _small_update() -> str:
    """The digest of a learner after one update with narrow networks."""
    experiment = specialist(paper("spread", "ippo"), "4")
    experiment = replace(experiment, actor=ActorSettings((32,), 32))
    learner, _ = Beginning.of(experiment, 0).update()
    arrays = named_arrays(jax.device_get(learner))
    return digest_of(b"".join(name.encode() + array.tobytes() for name, array in arrays.items()))


def _private(place: Path) -> bool:
    status = place.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


def _installed(package: str) -> bool:
    return any(distributions(name=package))
