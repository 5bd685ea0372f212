"""One run is one process with one thread: fastest in sum over runs, and the same bits every time."""

import os
from pathlib import Path

ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"


def pin() -> None:
    """Make XLA and BLAS single-threaded; call it before JAX is imported for the first time."""
    flags = os.environ.get("XLA_FLAGS", "")
    if ONE_THREAD not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {ONE_THREAD}".strip()
    # The size of XLA's thread pool: the flag above alone leaves large products on two threads.
    os.environ["NPROC"] = "1"
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    # Accelerators are welcome when asked for; a CPU is what every result here was made on.
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(compilation_cache()))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.5")


def compilation_cache() -> Path:
    """Where compiled programs are kept between runs."""
    home = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser()
    return home / "pc3d" / "xla"
