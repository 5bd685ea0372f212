"""All tests run as every run does: pinned to one thread, before JAX is imported."""

from pathlib import Path

import pytest

from pc3d import threads

threads.pin()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Here and not beside the faults: pytest takes options only from the folder it was started on."""
    parser.addoption("--full", action="store_true", help="inject every fault as often as is promised")
    parser.addoption("--figures", type=Path, help="write the table of injected faults to this Markdown file")
