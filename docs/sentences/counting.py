"""Spread's collisions counted otherwise: where our returns would then stand beside the paper's."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from docs.sentences.facts import Facts, NotKnown
from docs.sentences.words import gathered
from pc3d.report.names import SPLITS
from pc3d.report.paper_numbers import MAIN
from pc3d.report.prose import at_sizes, listed
from pc3d.report.tables.collisions import STANDING_STILL, TASK, mean_return
from pc3d.tasks.spread.rules import Collisions, SpreadRules

BY: dict[Collisions, str] = {
    "pairs": "with pairs counted once",
    "mean": "by the mean over agents",
    "sum": "with pairs counted twice",
}
SAME = 0.02  # what two ratios may differ by and still be called the same


def beside_the_paper(facts: Facts, count: Collisions = "sum", theirs: str = "the paper's") -> str:
    """Above or below the paper's, by split."""
    groups = gathered((_standing(facts, count, split), split) for split in SPLITS)
    parts = (f"{standing} {{}} {at_sizes(splits)}" for standing, splits in groups.items())
    return listed(_named_once(parts, theirs), ", and ")


def by_each_count(facts: Facts) -> str:
    """The same for all counts, those that come to the same together."""
    standings = gathered((beside_the_paper(facts, count, "{}"), BY[count]) for count in BY)
    (first, counts), *others = standings.items()
    parts = [f"{listed(counts)} the four methods are {first}"]
    parts += [f"{listed(counts)} they are {text}" for text, counts in others]
    return "; ".join(_named_once(parts, "the paper's numbers"))


def _named_once(parts: Iterable[str], name: str) -> list[str]:
    """Each part's gap filled: at first by the name, then by a pronoun."""
    first, *others = parts
    return [first.format(name), *(other.format("them") for other in others)]


def ratios(facts: Facts) -> str:
    """How returns grow from training to test sizes: standing still, and by our methods."""
    return f"{_still(facts):.2f} for standing still, {_range(_grown(facts, 'pairs'))} for our methods"


def nearest(facts: Facts) -> str:
    """By which count ours grow most like the paper's, and how the others compare."""
    paper = [facts.printed(TASK, method, "test") / facts.printed(TASK, method, "train") for method in MAIN]
    grown: dict[Collisions, list[float]] = {count: _grown(facts, count) for count in BY}
    best = min(grown, key=lambda count: float(np.abs(np.subtract(grown[count], paper)).mean()))
    others = (f"{BY[count]} {_compared(facts, count, grown[count], paper)}" for count in BY if count != best)
    return f"{_range(paper)}, are nearest to ours {BY[best]} ({_range(grown[best])}); {'; '.join(others)}"


def _compared(facts: Facts, count: Collisions, ours: list[float], paper: list[float]) -> str:
    if min(ours) <= max(paper):
        return f"ours are {_range(ours)}"
    if count == _trained(facts) and min(paper) > _still(facts) - SAME:
        return "they lie between standing still's and ours, as those of less trained policies would"
    return f"all of ours are above them ({_range(ours)})"


def _standing(facts: Facts, count: Collisions, split: str) -> str:
    above = [_mean(facts, method, count, split) > facts.printed(TASK, method, split) for method in MAIN]
    if all(above):
        return "above"
    return "partly above" if any(above) else "below"


def _grown(facts: Facts, count: Collisions) -> list[float]:
    return [_mean(facts, method, count, "test") / _mean(facts, method, count, "train") for method in MAIN]


def _still(facts: Facts) -> float:
    player = facts.runs.references.get(TASK, {}).get(STANDING_STILL)
    if player is None or player.lacking(facts.runs.rosters(TASK).all):
        raise NotKnown
    train, test = (player.means(facts.sizes(TASK, split)).mean() for split in ("train", "test"))
    return float(test / train)


def _mean(facts: Facts, method: str, count: Collisions, split: str) -> float:
    """The mean return of a split, had collisions been counted so."""
    sizes, seeds = facts.sizes(TASK, split), facts.runs.scored(TASK, method)
    if not seeds or not all(seed.colliding_pairs for seed in seeds):
        raise NotKnown
    return float(
        np.mean([mean_return(seed, count, _trained(facts), size) for seed in seeds for size in sizes])
    )


def _trained(facts: Facts) -> Collisions:
    """The count that the policies were trained with."""
    for run in facts.runs.all:
        if isinstance(run.experiment.rules, SpreadRules):
            return run.experiment.rules.collisions
    raise NotKnown


def _range(values: list[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f}"
