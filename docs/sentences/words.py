"""Numbers in words: what the sentences of the pages need beyond those of a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from pc3d.report.names import SPLITS, method_title, task_title
from pc3d.report.prose import SIZES, at_sizes, listed, number, on_tasks

Key = TypeVar("Key")
Value = TypeVar("Value")

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
FRACTIONS = {
    1 / 10: "a tenth",
    1 / 5: "a fifth",
    1 / 4: "a quarter",
    3 / 10: "three tenths",
    1 / 3: "a third",
    2 / 5: "two fifths",
    1 / 2: "half",
    3 / 5: "three fifths",
    2 / 3: "two thirds",
    7 / 10: "seven tenths",
    3 / 4: "three quarters",
    4 / 5: "four fifths",
    9 / 10: "nine tenths",
}
IN_PROSE = {  # where a report's title does not fit into a sentence
    "pc3d": "PC3D",
    "gate-off": "the gate that is always off",
    "gate-on": "the gate that is always on",
    "hyper-pc3d": "Hyper-PC3D",
}


def named(method: str) -> str:
    return IN_PROSE.get(method, method_title(method))


def count_of(part: int, whole: int) -> str:
    """How many of a number that is more than one."""
    if part == whole:
        return f"all {number(whole)}"
    return f"{number(part) if part else 'none'} of {number(whole)}"


def with_agents(team_size: int) -> str:
    return "alone" if team_size == 1 else f"with {team_size} agents"


def decimal(value: float) -> str:
    """To one place, and nothing below zero that is zero there."""
    return f"{round(value, 1) + 0.0:.1f}"


def ordinal(value: int) -> str:
    return ORDINALS[value - 1] if value <= len(ORDINALS) else f"{value}th"


def gathered(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    groups: dict[Key, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def by_split(words: Mapping[str, str], between: str = ", ") -> str:
    """The splits of one word together; none is named where all have the same."""
    if len(set(words.values())) == 1:
        return next(iter(words.values()))
    groups = gathered((word, split) for split, word in words.items())
    return between.join(f"{word} {at_sizes(splits)}" for word, splits in groups.items())


def where(truths: Mapping[str, bool], yes: str, no: str) -> str:
    """The one of two clauses that holds on all tasks, or the first one with those where it holds."""
    holds = [task for task, true in truths.items() if true]
    if not holds:
        return no
    return yes if len(holds) == len(truths) else f"{yes} on {on_tasks(holds)} only"


def of_task(task: str, splits: Sequence[str]) -> str:
    """Where something is so, on one task of several."""
    if len(splits) == len(SPLITS):
        return f"on {task_title(task).name}"
    return f"at {task_title(task).name}'s {listed(SIZES[split] for split in splits)} sizes"


def fraction(value: float) -> str:
    """The nearest that has a name."""
    if value < min(FRACTIONS) / 2:
        return "next to nothing"
    if value > (max(FRACTIONS) + 1) / 2:
        return "nearly all"
    return FRACTIONS[min(FRACTIONS, key=lambda known: abs(known - value))]


def at_least(value: float) -> str:
    """The largest fraction with a name that is not above the value."""
    below = [known for known in FRACTIONS if known <= value]
    return FRACTIONS[max(below)] if below else "nothing"


def percent(shares: Iterable[float]) -> str:
    """From the least to the most; what is not above nothing is none."""
    low, high = (round(100 * share) for share in _ends(shares))
    if high <= 0:
        return "none"
    return f"{low} %" if low == high else f"{max(low, 0)} to {high} %"


def times(ratios: Iterable[float]) -> str:
    """How many times as much: in words from two times on."""
    low, high = map(_times, _ends(ratios))
    return f"{low} times" if low == high else f"{low} to {high} times"


def fold(ratio: float) -> str:
    word = _times(ratio)
    return f"{word}fold" if word.isalpha() else f"{word}-fold"


def _times(ratio: float) -> str:
    return number(round(ratio)) if ratio >= 1.95 else f"{ratio:.1f}"


def _ends(values: Iterable[float]) -> tuple[float, float]:
    found = list(values)
    return min(found), max(found)
