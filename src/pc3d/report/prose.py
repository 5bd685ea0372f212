"""How sentences about runs count and list things: the report's own, and those of the pages."""

from collections.abc import Iterable, Sequence

from pc3d.report.names import SPLITS, task_title

NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
SIZES = {"train": "training", "validation": "validation", "test": "test"}


def number(value: int) -> str:
    return NUMBERS[value] if value < len(NUMBERS) else f"{value:,}"


def decimal(value: float, places: int | None = None) -> str:
    """With a true minus, as it is read and not computed with."""
    if places is None:
        places = 1 if abs(value) >= 10 else 2
    return f"{round(value, places) + 0.0:.{places}f}".replace("-", "−")


def number_of_seeds(count: int) -> str:
    return f"{number(count)} {'seed' if count == 1 else 'seeds'}"


def listed(texts: Iterable[str], last: str = " and ") -> str:
    *first, final = texts
    return f"{', '.join(first)}{last}{final}" if first else final


def at_sizes(splits: Sequence[str]) -> str:
    """Where something is so."""
    if len(splits) == len(SPLITS):
        return "on all splits"
    return f"at {listed(SIZES[split] for split in splits)} sizes"


def on_tasks(tasks: Iterable[str]) -> str:
    return listed(task_title(task).name for task in tasks)
