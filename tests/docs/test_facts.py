"""What the pages say of the results in words, beside the numbers that must bear it out."""

import numpy as np
import pytest

from pc3d.report.tables.results import SPLITS
from tests.docs.pages import README, REPRODUCTION, words_of
from tests.docs.recorded import (
    RIVALS,
    WHOLE_STUDIES,
    at_size,
    by_seed,
    counted_twice,
    kept,
    leads,
    mean,
    of_contexts,
    printed,
    runs,
    shut,
    times_of_the_best,
    verdicts,
)

LARGEST_GATE = 1 / (1 + np.exp(-2))  # of a reliance at its bound, with the gate's scale 1 and offset 0


def everywhere(truth) -> bool:
    return all(map(truth, SPLITS))


def above_the_paper() -> bool:
    return all(
        mean(task, method, split) > printed(task, method, split)
        for task in runs().tasks
        for method in runs().methods(task)
        for split in SPLITS
    )


def best_of_four() -> bool:
    return all(
        mean(task, "pc3d", split) > max(mean(task, rival, split) for rival in RIVALS)
        for task in WHOLE_STUDIES
        for split in SPLITS
    )


def twice_is_below_at_test_sizes_only() -> bool:
    return all(
        (counted_twice(method, split) > printed("spread", method, split)) == (split != "test")
        for method in (*RIVALS, "pc3d")
        for split in SPLITS
    )


def collected(method: str) -> float:
    """The share of LBF's food that is collected at test sizes, where all of it is 100 / team size."""
    sizes = runs().rosters("lbf").test
    return mean("lbf", method, "test") / float(np.mean([100 / size for size in sizes]))


def one_tie() -> bool:
    ahead = {(rival, size): lead for rival in RIVALS for size, lead in leads("lbf", rival).items()}
    ties = [place for place, lead in ahead.items() if abs(lead) < 1e-6]
    return ties == [("pic", 5)] and all(lead > 0 for place, lead in ahead.items() if place not in ties)


def constant_is_closer(split: str) -> bool:
    return all(
        of_contexts(task, split, "alignment").mean()
        < of_contexts(task, split, "alignment_of_a_constant").mean()
        and of_contexts(task, split, "variance_explained").mean() < 0
        for task in runs().tasks
    )


def recovers_with_the_gate_off(split: str) -> bool:
    """One seed of RWARE."""
    measures = ("alignment", "alignment_of_a_constant", "alignment_with_teammates", "variance_explained")
    own, constant, teammates, explained = (
        float(of_contexts("rware", split, name, "gate-off").mean()) for name in measures
    )
    return own > max(constant, teammates) and explained > 1 / 3


def lost_when_shut(split: str) -> float:
    """The share of PC3D's deliveries on RWARE that is gone with its gate forced shut."""
    return 1 - shut("rware", "pc3d", split) / mean("rware", "pc3d", split)


def widens_in_deliveries_only() -> bool:
    by_size = list(leads("rware", "mappo").values())
    first, last = (at_size("rware", "pc3d", size) / at_size("rware", "mappo", size) for size in (2, 10))
    return by_size[0] > 0 and by_size == sorted(by_size) and last < first


FACTS = {
    "Every method's mean is above the paper's on every split.": above_the_paper,
    "with each pair counted twice they are above them at training and validation sizes, and below them at "
    "test sizes": twice_is_below_at_test_sizes_only,
    "| of the four methods PC3D has the best mean | yes | yes |": best_of_four,
    "yes, by the means of every size": lambda: all(
        min(leads("spread", rival).values()) > 0 for rival in RIVALS
    ),
    "yes, by the means, but for one tie with PIC-MAPPO": one_tie,
    "nearly half of the lead over MAPPO is there if the gate never opens": lambda: everywhere(
        lambda split: 0.4 < kept("spread", split, mean("spread", "gate-off", split)) < 0.5
    ),
    "more than four fifths if PC3D's gate is [forced shut]": lambda: everywhere(
        lambda split: kept("spread", split, shut("spread", "pc3d", split)) > 0.8
    ),
    "A-MAPPO, which has the pathway and no distillation, keeps most of the lead, but none of it with its "
    "gate forced shut.": lambda: everywhere(
        lambda split: (
            kept("spread", split, mean("spread", "a-mappo", split)) > 0.5
            and kept("spread", split, shut("spread", "a-mappo", split)) < 0
        )
    ),
    "On LBF PC3D's means fall below MAPPO's with the gate forced shut": lambda: everywhere(
        lambda split: shut("lbf", "pc3d", split) < mean("lbf", "mappo", split)
    ),
    "with the gate forced shut it loses seven tenths of its deliveries at test sizes and three quarters at "
    "the others": lambda: np.allclose(
        [lost_when_shut(split) for split in SPLITS],
        [0.75, 0.75, 0.7],
        atol=0.01,
    ),
    "with the gate forced shut it delivers less than MAPPO": lambda: everywhere(
        lambda split: shut("rware", "a-mappo", split) < mean("rware", "mappo", split)
    ),
    "of MAPPO, whose two differ threefold": lambda: everywhere(
        lambda split: round(float(np.divide(*by_seed("rware", "mappo", split)))) == 3
    ),
    "the cosine of PC3D's actors is lower than that of the best constant, on all tasks and splits, and the "
    "variance explained is below zero": lambda: everywhere(constant_is_closer),
    "A tenth (seed 1) to a third (seed 0) of the teacher's variance at training sizes": lambda: np.allclose(
        of_contexts("rware", "train", "personal_share"), [1 / 3, 1 / 10], atol=0.03
    ),
    "its context is closer to its own teacher's than the best constant is, and than to its teammates', and "
    "explains more than a third of the variance": lambda: everywhere(recovers_with_the_gate_off),
    "they are open by two thirds": lambda: everywhere(
        lambda split: abs(of_contexts("spread", split, "gate_mean").mean() - 2 / 3) < 0.03
    ),
    "they stand within a hundredth of the largest value that the printed bound on reliance allows (0.88)": (
        lambda: everywhere(
            lambda split: np.allclose(of_contexts("rware", split, "gate_mean"), LARGEST_GATE, atol=0.01)
        )
    ),
    "at test sizes the MAPPO family collects about nine tenths of it (Hyper-PC3D 85 %)": lambda: (
        round(100 * collected("hyper-pc3d")) == 85
        and all(
            abs(collected(method) - 0.9) < 0.05
            for method in runs().methods("lbf")
            if method not in ("ippo", "hyper-pc3d")
        )
    ),
    "It is so at every team size, and in deliveries larger teams widen the margin; as a ratio they do not.": (
        widens_in_deliveries_only
    ),
    "PIC-MAPPO is above MAPPO, as in the paper.": lambda: everywhere(
        lambda split: mean("rware", "pic", split) > mean("rware", "mappo", split)
    ),
}
FACTS_OF_THE_README = {
    "with each counted twice, the same policies would be above the paper's at training and validation sizes, "
    "and below them at test sizes": twice_is_below_at_test_sizes_only,
    "PC3D has the best mean of the four methods of this table in every column": best_of_four,
    "its leads over IPPO on Spread and over MAPPO at Spread's training sizes are unlikely to be chance; on "
    "LBF no lead survives the correction": lambda: (
        {
            (task, rival, split)
            for task in WHOLE_STUDIES
            for rival in RIVALS
            for split, verdict in verdicts(task, "pc3d", rival).items()
            if verdict == "better"
        }
        == {("spread", "ippo", split) for split in SPLITS} | {("spread", "mappo", "train")}
    ),
    "has a better mean than PC3D in all six columns (with a hint of more than chance at Spread's test sizes "
    "only)": lambda: (
        all(
            mean(task, "gate-on", split) > mean(task, "pc3d", split)
            for task in WHOLE_STUDIES
            for split in SPLITS
        )
        and [
            (task, split)
            for task in WHOLE_STUDIES
            for split, verdict in verdicts(task, "pc3d", "gate-on").items()
            if verdict == "hint: worse"
        ]
        == [("spread", "test")]
    ),
    "at least seven times as much as the better of MAPPO's two seeds": lambda: (
        7 <= times_of_the_best("mappo")[0] < 8
    ),
    "with the gate forced shut it loses seven tenths of its deliveries or more": lambda: everywhere(
        lambda split: 0.7 <= lost_when_shut(split) < 0.8
    ),
}


@pytest.mark.parametrize("sentence", FACTS)
def test_what_the_page_says_is_so(sentence):
    assert words_of(REPRODUCTION).count(sentence) == 1
    assert FACTS[sentence]()


@pytest.mark.parametrize("sentence", FACTS_OF_THE_README)
def test_what_the_readme_says_is_so(sentence):
    assert words_of(README).count(sentence) == 1
    assert FACTS_OF_THE_README[sentence]()
