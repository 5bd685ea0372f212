"""RWARE in sentences: which runs there are, and how many times MAPPO's deliveries PC3D has."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from docs.sentences.facts import BACKBONE, BySeed, Facts, NotKnown, of_the_paper
from docs.sentences.words import by_split, fold, gathered, named, percent, times
from pc3d.experiment.methods import OURS
from pc3d.report.names import SPLITS
from pc3d.report.paper_numbers import MAIN
from pc3d.report.prose import at_sizes, listed, number, number_of_seeds

TASK = "rware"
FAR_MORE = 2.0  # times
SURE = "unlikely to be chance"


def runs(facts: Facts) -> str:
    """Which methods have how many seeds, the most first."""
    methods = facts.methods(TASK)
    if not methods:
        raise NotKnown
    counts = gathered((facts.seeds(TASK, method), method) for method in methods)
    missing = [named(method) for method in of_the_paper(TASK) if method not in methods]
    if not missing and len(counts) == 1:
        return f"{number_of_seeds(min(counts))} of every method"
    most, *fewer = sorted(counts, reverse=True)
    parts = [_of_seeds(most, counts[most], number_of_seeds(most))]
    parts += [_of_seeds(count, counts[count], number(count)) for count in fewer]
    said = listed(parts, ", and ")
    if len(missing) == 1:
        return f"{said}; {missing[0]} is missing"
    return f"{said}; the other methods are missing" if missing else said


def _of_seeds(count: int, methods: list[str], seeds: str) -> str:
    return f"{seeds}{' each' * (count == 1 < len(methods))} of {listed(map(named, methods))}"


def times_the_mean(facts: Facts) -> str:
    """How many times MAPPO's mean PC3D delivers."""
    train, test = (
        times([facts.mean(TASK, OURS, split) / _positive(facts.mean(TASK, BACKBONE, split))])
        for split in ("train", "test")
    )
    return f"{train} MAPPO's mean at training sizes and {test} at test sizes"


def times_the_best(facts: Facts, rival: str) -> str:
    """Every seed of PC3D against a rival's best one, on all splits."""
    return f"{times(_ratios_to_the_best(facts, rival))} as much as {_best_seed(facts, rival)}"


def differing(facts: Facts) -> str:
    """How far MAPPO's seeds are apart."""
    by_seed = [facts.of_split(TASK, BACKBONE, split) for split in SPLITS]
    count = len(by_seed[0])
    if count < 2:
        raise NotKnown
    widest = max(seeds.max() / _positive(seeds.min()) for seeds in by_seed)
    if widest < 1.1:
        return "which hardly differ"
    return f"which differ {'up to ' * (count > 2)}{fold(widest)}"


def tested(facts: Facts) -> str:
    """How sure the lead over MAPPO is."""
    ours, theirs = (facts.seeds(TASK, method) for method in (OURS, BACKBONE))
    if not ours or not theirs:
        raise NotKnown
    if min(ours, theirs) < 2:
        return "With one seed, that cannot be tested."
    words = {"better": SURE, "worse": SURE, "hint: better": "a hint", "hint: worse": "a hint"}
    verdicts = facts.verdicts(TASK, OURS, BACKBONE)
    found = by_split(
        {split: words.get(verdict, "what chance could be") for split, verdict in verdicts.items()}
    )
    seeds = f"{number(ours)} seeds each" if ours == theirs else f"{number(ours)} and {number(theirs)} seeds"
    return f"Tested with {seeds}, that is {found}."


def apart(facts: Facts) -> str:
    """Whether every seed of PC3D delivers more than the best of MAPPO."""
    ours, least = facts.seeds(TASK, OURS), min(_ratios_to_the_best(facts, BACKBONE))
    if least <= 1:
        return f"not every seed of PC3D delivers more than {_best_seed(facts, BACKBONE)}"
    every = {1: "the one seed of PC3D", 2: "either seed of PC3D"}.get(ours, "every seed of PC3D")
    more = "[far more](reproduction.md)" if least >= FAR_MORE else "more"
    return f"{every} delivers {more} than {_best_seed(facts, BACKBONE)}"


def at_every_size(facts: Facts) -> str:
    """Whether the lead is there at every team size, and grows."""
    leads = facts.leads(TASK, BACKBONE)
    ratios = [
        facts.at_size(TASK, OURS, size) / _positive(facts.at_size(TASK, BACKBONE, size)) for size in leads
    ]
    ahead = [str(size) for size, lead in leads.items() if lead > 0]
    if not ahead:
        return "so at no team size"
    place = "so at every team size" if len(ahead) == len(leads) else f"so with {listed(ahead)} robots only"
    widens = all(low < high for low, high in pairwise(leads.values()))
    grows = ratios[-1] > ratios[0]
    return (
        f"{place}, and in deliveries larger teams {'widen' if widens else 'do not always widen'} the margin; "
        f"as a ratio they {'do' if grows else 'do not'}{', too' * (widens and grows)}"
    )


def second(facts: Facts) -> str:
    """In the paper PIC-MAPPO is above MAPPO."""
    above = [split for split in SPLITS if facts.mean(TASK, "pic", split) > facts.mean(TASK, BACKBONE, split)]
    if len(above) == len(SPLITS):
        return "above MAPPO, as in the paper"
    return f"above MAPPO {at_sizes(above)} only" if above else "below MAPPO; in the paper it is above"


def as_much(facts: Facts, method: str) -> str:
    """A method's deliveries in percent of PC3D's, over the splits."""
    return percent(
        facts.mean(TASK, method, split) / _positive(facts.mean(TASK, OURS, split)) for split in SPLITS
    )


def as_much_in_the_paper(facts: Facts, method: str) -> str:
    return percent(facts.printed(TASK, method, split) / facts.printed(TASK, OURS, split) for split in SPLITS)


def growth(facts: Facts) -> str:
    """How many times as much a team of a test size delivers as one of a training size."""
    methods = [method for method in MAIN if method in facts.methods(TASK)]
    if not methods:
        raise NotKnown
    grown, summed = (
        [_growth(facts, method, by_robot=by_robot) for method in methods] for by_robot in (False, True)
    )
    each = (f"{ratio:.1f}-fold ({named(method)})" for method, ratio in zip(methods, grown, strict=True))
    robots = listed(f"{ratio:.1f}-" for ratio in summed)
    return f"{listed(each)}; summed over robots, these would grow {robots}fold"


def _growth(facts: Facts, method: str, *, by_robot: bool) -> float:
    train, test = (
        np.mean(
            [
                facts.at_size(TASK, method, size) * (size if by_robot else 1)
                for size in facts.sizes(TASK, split)
            ]
        )
        for split in ("train", "test")
    )
    return float(test / _positive(train))


def _ratios_to_the_best(facts: Facts, rival: str) -> BySeed:
    best = (_positive(facts.of_split(TASK, rival, split).max()) for split in SPLITS)
    return np.concatenate(
        [facts.of_split(TASK, OURS, split) / most for split, most in zip(SPLITS, best, strict=True)]
    )


def _best_seed(facts: Facts, rival: str) -> str:
    count = facts.seeds(TASK, rival)
    if count == 1:
        return f"{named(rival)}'s one"
    return f"the {'better' if count == 2 else 'best'} of {named(rival)}'s {number(count)} seeds"


def _positive(value: float | np.floating) -> float:
    """What something can be divided by."""
    if value <= 0:
        raise NotKnown
    return float(value)
