"""How often a fault is injected, and the table of what happened that a run of the faults ends with."""

import fcntl
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from tests.faults.tiny_runs import make_and_time

HEADINGS = ("fault", "injected", "what happened", "worst case")
Count = Callable[[int, int], int]
Figure = Callable[[str, int, str, str], None]
# Seconds: a run that has to compile takes longer than those after it, whose lives random moments shall be in.
LONGEST_LIFE = 8.0


@pytest.fixture(scope="session")
def count(request: pytest.FixtureRequest) -> Count:
    """How many of a fault to inject: `count(full, small)`, the full number only with --full."""
    whole = request.config.getoption("--full")
    return lambda full, small: full if whole else small


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> Figure:
    """Adds a row to the table: `figure(fault, injected, what_happened, worst_case)`."""

    def add(fault: str, injected: int, happened: str, worst: str = "") -> None:
        # A test's properties also reach the terminal from another process.
        record_property("figure", json.dumps([fault, f"{injected:,}", happened, worst]))

    return add


@dataclass(frozen=True)
class Undisturbed:
    """A tiny run and its evaluation to which nothing happened, and the seconds that such ones live."""

    folder: str
    training: float
    evaluating: float

    @property
    def run(self) -> Path:
        return Path(self.folder)


@pytest.fixture(scope="session")
def undisturbed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """Made once for all files of faults, also if they are shared out among several processes."""
    place = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):  # each of these has a folder of its own in a common one
        place = place.parent
    with open(place / "undisturbed.lock", "a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = place / "undisturbed.json"
        if not made.exists():
            made.write_text(json.dumps(asdict(_made(place / "undisturbed", request))))
        return Undisturbed(**json.loads(made.read_text()))


def _made(folder: Path, request: pytest.FixtureRequest) -> Undisturbed:
    seconds = [min(life, LONGEST_LIFE) for life in make_and_time(folder)]
    if request.config.getoption("--full"):  # for many moments it pays to know how long the lives are
        seconds = make_and_time(folder.with_name(f"{folder.name}-again"))
    return Undisturbed(str(folder), *seconds)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    rows = _rows(terminalreporter)
    if not rows:
        return
    place = config.getoption("--figures")
    if place is not None:
        place.write_text(_markdown(rows), encoding="utf-8")
    if config.getoption("--full"):
        terminalreporter.section("faults")
        for fault, injected, happened, worst in rows:
            terminalreporter.write_line(f"{injected:>8}  {fault}: {happened}{worst and f' ({worst})'}")


def _rows(reporter: pytest.TerminalReporter) -> list[list[str]]:
    """The figures of every test that passed, in the order of the files."""
    passed = sorted(reporter.getreports("passed"), key=lambda report: report.nodeid)
    return [
        json.loads(value) for report in passed for name, value in report.user_properties if name == "figure"
    ]


def _markdown(rows: list[list[str]]) -> str:
    lines = (HEADINGS, ("---", "---:", "---", "---"), *rows)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
