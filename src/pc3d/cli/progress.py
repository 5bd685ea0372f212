"""The progress bar of long commands: on stderr, gone when done, only where somebody can see it move."""

from rich.console import Console
from rich.progress import Progress, ProgressColumn


def progress_bar(*columns: ProgressColumn) -> Progress:
    """Nothing at all in a log file, where a bar would leave empty lines."""
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
