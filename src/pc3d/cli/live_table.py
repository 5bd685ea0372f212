"""A table that is redrawn in a terminal, once a second at most; elsewhere lines are printed instead."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.table import Table

SECONDS_BETWEEN_DRAWINGS = 1.0


class LiveTable:
    """What the displays of studies and searches have in common."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.live = Live(console=console, refresh_per_second=2)
        self.next_drawing = 0.0

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *reason: object) -> None:
        if self.live.is_started:
            self.live.stop()

    def draw(self, table: Callable[[], Table]) -> bool:
        """Draw it if it is time to; whether there is a terminal to draw in."""
        if self.live.is_started and time.monotonic() >= self.next_drawing:
            self.live.update(table())
            self.next_drawing = time.monotonic() + SECONDS_BETWEEN_DRAWINGS
        return self.live.is_started
