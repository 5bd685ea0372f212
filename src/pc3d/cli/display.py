"""What commands show: tables, bars of progress, and tables that are redrawn while something goes on."""

import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any, Self

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from pc3d.system.plain import printable

SECONDS_BETWEEN_DRAWINGS = 1.0
SECONDS_BETWEEN_LINES = 30.0  # in a log


class Terminal(Console):
    """A console that shows text as it is: names and paths may come from a stranger's files.

    What looks like Rich's markup is none, and what would move the cursor or rename the window is spelt out.
    """

    def __init__(self, *, file: IO[str] | None = None, stderr: bool = False) -> None:
        # What can be redrawn is asked of the file itself: FORCE_COLOR would fill a log with spinners.
        drawn_in = file or (sys.stderr if stderr else sys.stdout)
        super().__init__(
            markup=False, emoji=False, file=file, stderr=stderr, force_terminal=drawn_in.isatty()
        )

    def on_broken_pipe(self) -> None:
        """Whoever read our output has seen enough, which is no failure: the command line knows what to do."""
        raise  # noqa: PLE0704 - Rich calls this while it handles the error

    def render_str(self, text: str, **settings: Any) -> Text:
        return super().render_str(printable(text), **settings)


def as_command(words: Iterable[str]) -> str:
    """Words as they can be pasted into a shell."""
    return shlex.join(words)


def table(
    title: str,
    headings: Iterable[str],
    rows: Iterable[Iterable[RenderableType]],
    *,
    words: int = 100,
    narrow: bool = False,
) -> Table:
    """A table whose first columns hold words and the others numbers, which stand right.

    A narrow one has room for many numbers, none of which is broken into two lines.
    """
    made = Table(title=title, title_justify="left")
    if narrow:
        made.box, made.padding, made.pad_edge = SIMPLE_HEAD, (0, 1, 0, 0), False
    for place, heading in enumerate(headings):
        if place < words:
            made.add_column(heading, overflow="fold")
        else:
            made.add_column(heading, justify="right", no_wrap=narrow)
    for row in rows:
        made.add_row(*row)
    return made


def facts(title: str, rows: Iterable[tuple[str, str]]) -> Table:
    """What is known of one thing, line by line."""
    made = Table(title=title, title_justify="left", title_style="bold", show_header=False)
    made.add_column(style="dim", no_wrap=True)
    for row in rows:
        made.add_row(*row)
    return made


@contextmanager
def counted(title: str, total: int) -> Iterator[Callable[..., None]]:
    """A bar on stderr, gone when done; what it gives advances it by one, and may give it another title.

    In a log a bar would leave empty lines: there it is a line now and then.
    """
    console = Terminal(stderr=True)
    if not console.is_terminal:
        with _counted_in_lines(console, title, total) as advance:
            yield advance
        return
    name = TextColumn("{task.description}", markup=False)
    columns = (name, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task(title, total=total)
        yield lambda title=None: progress.update(bar, description=title, advance=1)


@contextmanager
def _counted_in_lines(console: Console, title: str, total: int) -> Iterator[Callable[..., None]]:
    """From a thread of its own, as whoever is counted may be silent for long."""
    names, over, began = [title], threading.Event(), time.monotonic()

    def tell() -> None:
        while not over.wait(SECONDS_BETWEEN_LINES):
            minutes = (time.monotonic() - began) / 60
            line = f"{names[-1]}: {len(names) - 1} of {total} after {minutes:.1f} min"
            console.print(line, soft_wrap=True, highlight=False)

    def advance(title: str | None = None) -> None:
        names.append(title or names[-1])

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield advance
    finally:
        over.set()
        teller.join()


class LinesNowAndThen:
    """For what is told again and again, where nothing can be redrawn: in a log, every half a minute."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.next_line = time.monotonic() + SECONDS_BETWEEN_LINES

    def tell(self, line: Callable[[], str]) -> None:
        if self.console.is_terminal or time.monotonic() < self.next_line:
            return
        self.next_line = time.monotonic() + SECONDS_BETWEEN_LINES
        self.console.print(line(), soft_wrap=True, highlight=False)


class LiveDisplay:
    """Something that is redrawn in a terminal, once a second at most; elsewhere lines are printed instead."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.live = Live(console=console, refresh_per_second=4)
        self.next_drawing = 0.0
        self.told: dict[str, str] = {}

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *reason: object) -> None:
        if self.live.is_started:
            self.live.stop()

    def draw(self, picture: Callable[[], RenderableType]) -> bool:
        """Draw it if it is time to; whether there is a terminal to draw in."""
        if self.live.is_started and time.monotonic() >= self.next_drawing:
            self.live.update(picture())
            self.next_drawing = time.monotonic() + SECONDS_BETWEEN_DRAWINGS
        return self.live.is_started

    def tell(self, name: str, state: str, more: str = "") -> None:
        """Print a line if this has changed its state; at first, everything waits."""
        if self.told.get(name, "waiting") != state:
            self.told[name] = state
            self.console.print(f"{name}: {state}{more}", soft_wrap=True, highlight=False)
