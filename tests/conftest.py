"""All tests run as every run does, pinned to one thread; and every shape that a type promises is checked."""

import gc
import os
import signal
import sys
from pathlib import Path

import pytest
from jaxtyping import install_import_hook

from tests import shapes

# Tests compile far more than they compute: unoptimised programs are made in a third of the time. With
# XLA_FLAGS set, if to nothing, programs are those of every run (make faults, make test-slow).
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false")
# And what one process has compiled, the next ones need not.
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")

# Where shapes matter most: what is imported from here on looks at what its functions are given and give back.
CHECKED = ("tasks", "networks", "play", "learners", "evaluation", "export")
install_import_hook([f"pc3d.{folder}" for folder in CHECKED], f"{shapes.__name__}.checked")
import pc3d  # noqa: E402, F401  (pins the threads, before JAX is imported)

# A shell's background jobs ignore Ctrl-C, and so would all that the tests start and send it to.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


MANY_MAPS = 20_000  # of the 65,530 that Linux gives a process; a compiled program takes some fourteen


@pytest.fixture(autouse=True, scope="module")
def programs_do_not_pile_up():
    """A worker that has run most of the tests would else be out of memory maps, and crash."""
    yield
    maps = Path("/proc/self/maps")
    if "jax" in sys.modules and maps.exists() and len(maps.read_bytes().splitlines()) > MANY_MAPS:
        sys.modules["jax"].clear_caches()
        gc.collect()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Here and not beside the faults: pytest takes options only from the folder it was started on."""
    parser.addoption("--full", action="store_true", help="inject every fault as often as is promised")
    parser.addoption("--figures", type=Path, help="write the table of injected faults to this Markdown file")


@pytest.fixture
def no_task_stays_known():
    """For tests that load tasks by their paths."""
    from pc3d.tasks.registry import TASKS  # imports JAX, which the tests of bare modules do without

    before = dict(TASKS)
    yield
    TASKS.clear()
    TASKS.update(before)


@pytest.fixture
def nothing_own_stays_known(monkeypatch):
    """For tests that name methods by their paths, and with them what those are made of."""
    from pc3d.cli.extensions import TOLD, TOLD_METHODS, _known_tables

    for told in (TOLD, TOLD_METHODS):
        monkeypatch.setenv(told, "")
    modules, tables = set(sys.modules), _known_tables()
    before = {name: dict(table) for name, table in tables.items()}
    yield
    for name, table in tables.items():
        table.clear()
        table.update(before[name])
    for name in {"own_methods", "my_methods"} & (set(sys.modules) - modules):
        del sys.modules[name]
