"""One run is one process with one thread: fastest in sum over runs, and the same bits every time."""

import os
import sys
import warnings
from pathlib import Path

ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"
# The size of XLA's thread pool: the flag above alone leaves large products on two threads.
POOL, ONE = "NPROC", "1"


def pin() -> None:
    """Make XLA and BLAS single-threaded; `import pc3d` does it, before anything here imports JAX."""
    flags = os.environ.get("XLA_FLAGS", "")
    pinned = ONE_THREAD in flags and os.environ.get(POOL) == ONE
    if _started() and not pinned:
        warnings.warn(
            "JAX was started before pc3d was imported, with more than one thread: runs are slower and equal "
            "seeds can give unequal bits; import pc3d before JAX computes anything",
            stacklevel=3,
        )
    if ONE_THREAD not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {ONE_THREAD}".strip()
    os.environ[POOL] = ONE
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", ONE)
    # Accelerators are welcome when asked for; a CPU is what every result here was made on.
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(compilation_cache()))
    # Half of what a run waits for before it plays is made of programs that take a tenth of a second each.
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.05")


def compilation_cache() -> Path:
    """Where compiled programs are kept between runs."""
    home = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser()
    return home / "pc3d" / "xla"


def _started() -> bool:
    """Whether JAX has made its devices, from when on it no longer asks for threads."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    return bool(bridge and bridge.backends_are_initialized())
