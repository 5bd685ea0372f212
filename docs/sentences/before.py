"""PC3D of today beside runs by the recipe of contexts of before: its own, and those of its nearest rival."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from docs.sentences.facts import Facts, NotKnown
from pc3d.experiment.methods import OURS
from pc3d.report.names import SPLITS
from pc3d.report.prose import at_sizes, listed
from pc3d.report.statistics import difference, over_seeds

# Encodings of PIC's set are normalised today, too: a rival that was better without is to be beaten as it was.
OF_BEFORE = ("pc3d", "pic")
TASKS = ("spread", "lbf")


def minus(now: Facts, before: Facts, task: str, method: str) -> str:
    """PC3D's mean return today minus a method's of before, by split."""
    parts = []
    for split in SPLITS:
        ours, theirs = now.of_split(task, OURS, split), before.of_split(task, method, split)
        estimate = difference(over_seeds(ours), over_seeds(theirs))
        if estimate.interval is None:
            raise NotKnown
        low, high = estimate.interval
        parts.append(f"{estimate.value:+.2f} ({low:+.2f} to {high:+.2f}) {at_sizes([split])}")
    return listed(parts)


SENTENCES_OF_BEFORE: dict[str, Callable[[Facts, Facts], str]] = {
    f"{method}-before-{task}": partial(minus, task=task, method=method)
    for method in OF_BEFORE
    for task in TASKS
}
