"""How often a fault is injected, and the table of what happened that a run of the faults ends with."""

import json
from collections.abc import Callable

import pytest

HEADINGS = ("fault", "injected", "what happened", "worst case")
Count = Callable[[int, int], int]
Figure = Callable[[str, int, str, str], None]


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
