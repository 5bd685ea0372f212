"""What the pages say of the results in words is what the recorded runs give.

`make results` fills in the tables but not the sentences, so what these say is worked out here once more.
"""

import re
from pathlib import Path

import numpy as np
import pytest

from pc3d.report.result_tables import SPLITS
from tests.docs.pages import ROOT
from tests.docs.recorded import (
    RIVALS,
    WHOLE_STUDIES,
    at_size,
    by_seed,
    counted_twice,
    gains_by_stage,
    kept,
    leads,
    longer,
    mean,
    of_contexts,
    printed,
    runs,
    shut,
    updates,
    verdicts,
)

README = ROOT / "README.md"
REPRODUCTION = ROOT / "docs" / "reproduction.md"
SPEED = ROOT / "docs" / "speed.md"
IN_WORDS = {5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", 10: "ten", 11: "eleven", 12: "twelve"}
SIZES = {"train": "training", "validation": "validation", "test": "test"}
LARGEST_GATE = 1 / (1 + np.exp(-2))  # of a reliance at its bound, with the gate's scale 1 and offset 0
OF_PC3D = {"better": "**better**", "hint: better": "a hint", "higher": "higher", "lower": "lower"}
OF_THE_RIVAL = {
    "hint: better": "a hint that it is worse",
    "hint: worse": "a hint that it is better",
    "higher": "lower",
    "lower": "higher",
}


def words_of(page: Path) -> str:
    """Without the line breaks that wrapping put in."""
    return " ".join(page.read_text().split())


def in_words(number: float) -> str:
    return IN_WORDS[round(number)]


def listed(texts: list[str]) -> str:
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def judged(task: str, rival: str, words: dict[str, str]) -> str:
    """As the page says it: the splits of one verdict together, none named if all have the same."""
    by_split = {split: words[verdict] for split, verdict in verdicts(task, "pc3d", rival).items()}
    places = {
        word: [SIZES[split] for split in SPLITS if by_split[split] == word] for word in by_split.values()
    }
    if len(places) == 1:
        return by_split["train"]
    return ", ".join(f"{word} at {' and '.join(splits)} sizes" for word, splits in places.items())


def of_pc3d(claim: str, rival: str) -> str:
    return f"| {claim} | {judged('spread', rival, OF_PC3D)} | {judged('lbf', rival, OF_PC3D)} |"


def of_the_rival(rival: str, *, spread: str = "", after: str = "") -> str:
    on_spread, on_lbf = (judged(task, rival, OF_THE_RIVAL) for task in WHOLE_STUDIES)
    return f"| {spread}{on_spread}{after} | {on_lbf} |"


def times() -> str:
    """How many times MAPPO's deliveries PC3D has."""
    train, test = (
        in_words(mean("rware", "pc3d", split) / mean("rware", "mappo", split)) for split in ("train", "test")
    )
    return f"PC3D delivers {train} times MAPPO's mean at training sizes and {test} times at test sizes"


def times_of_the_best(rival: str) -> tuple[float, float]:
    """Every seed of PC3D against a rival's best, on all splits: the least and the most."""
    ratios = [by_seed("rware", "pc3d", split) / by_seed("rware", rival, split).max() for split in SPLITS]
    return float(np.min(ratios)), float(np.max(ratios))


def range_of_times(rival: str) -> str:
    return f"{' to '.join(map(in_words, times_of_the_best(rival)))} times as much"


def margin(split: str) -> float:
    """PC3D's lead over MAPPO on Spread in percent of MAPPO's return."""
    theirs = mean("spread", "mappo", split)
    return 100 * (mean("spread", "pc3d", split) - theirs) / abs(theirs)


def margin_in_the_paper(split: str) -> float:
    theirs = printed("spread", "mappo", split)
    return 100 * (printed("spread", "pc3d", split) - theirs) / abs(theirs)


def margins() -> str:
    ours = ", ".join(f"{margin(split):.1f} % at {SIZES[split]}" for split in SPLITS)
    return f"{ours} sizes (paper {listed([f'{margin_in_the_paper(split):.1f}' for split in SPLITS])} %)"


def widening() -> str:
    """The lead over MAPPO on Spread from one agent to ten."""
    by_size = leads("spread", "mappo")
    most = max(by_size, key=lambda size: by_size[size])
    return (
        f"from {by_size[1]:.1f} alone to {by_size[most]:.1f} with {most} agents ({by_size[10]:.1f} with 10)"
    )


def stages(task: str) -> str:
    return listed([f"{gain:.1f}" for gain in gains_by_stage(task)])


def growth(method: str, *, by_robot: bool) -> float:
    """How many times as much a team of a test size delivers as one of a training size."""
    train, test = (
        np.mean(
            [
                at_size("rware", method, size) * (size if by_robot else 1)
                for size in getattr(runs().rosters("rware"), split)
            ]
        )
        for split in ("train", "test")
    )
    return float(test / train)


def growths() -> str:
    mappo, pic, pc3d = (f"{growth(method, by_robot=False):.1f}-fold" for method in ("mappo", "pic", "pc3d"))
    summed = [f"{growth(method, by_robot=True):.1f}-" for method in ("mappo", "pic", "pc3d")]
    return (
        f"{mappo} (MAPPO), {pic} (PIC-MAPPO) and {pc3d} (PC3D); summed over robots, these would grow "
        f"{listed(summed)}fold"
    )


def undisturbed(title: str) -> str:
    """How much longer PC3D's updates took than MAPPO's, by the table of docs/speed.md."""
    ours, theirs = (
        float(
            re.search(rf"^\| {title} \| {method} \| ([\d,]+) ms", SPEED.read_text(), re.M)[1].replace(",", "")
        )
        for method in ("pc3d", "mappo")
    )
    return f"{100 * (ours / theirs - 1):.0f} %"


def times_of_updates() -> str:
    return (
        f"longer: {undisturbed('Spread')} [undisturbed](speed.md#training), {longer('spread'):.0f} % by [the "
        f"runs' own clocks](#time) | longer: {undisturbed('LBF')} and {longer('lbf'):.0f} % |"
    )


def as_much_as_pc3d(method: str, of=mean) -> str:
    """A method's deliveries in percent of PC3D's, over the splits."""
    shares = [100 * of("rware", method, split) / of("rware", "pc3d", split) for split in SPLITS]
    return f"{min(shares):.0f} to {max(shares):.0f} %"


def ablations() -> str:
    off, not_distilled = map(as_much_as_pc3d, ("gate-off", "a-mappo"))
    return f"a policy delivers {off} as much, and without distillation {not_distilled}"


SENTENCES = {
    "times": times,
    "over the better seed": lambda: f"{range_of_times('mappo')} as the better seed of MAPPO",
    "over PIC-MAPPO": lambda: f"{range_of_times('pic')} as PIC-MAPPO's one",
    "growth on RWARE": growths,
    "gate off on RWARE": lambda: (
        f"the gate always off delivers {as_much_as_pc3d('gate-off')} as much, and A-MAPPO, without "
        f"distillation, {as_much_as_pc3d('a-mappo')}."
    ),
    "gate off on RWARE and in the paper": lambda: (
        f"{as_much_as_pc3d('gate-off')} of PC3D's deliveries; in the paper "
        f"{as_much_as_pc3d('gate-off', of=printed)}. Without distillation (A-MAPPO): "
        f"{as_much_as_pc3d('a-mappo')}; in the paper {as_much_as_pc3d('a-mappo', of=printed)}."
    ),
    "margins": margins,
    "widening": widening,
    "stages": lambda: f"by {stages('spread')} in the four stages | no: by {stages('lbf')} |",
    "against IPPO": lambda: of_pc3d("PC3D is better than IPPO", "ippo"),
    "against MAPPO": lambda: of_pc3d("PC3D is better than MAPPO, its backbone", "mappo"),
    "against PIC-MAPPO": lambda: of_pc3d("PC3D is better than PIC-MAPPO", "pic"),
    "gate off": lambda: of_the_rival("gate-off"),
    "gate on": lambda: of_the_rival("gate-on", spread="**no**: "),
    "A-MAPPO": lambda: of_the_rival("a-mappo", after=", and no more so at test sizes"),
    "Hyper": lambda: of_the_rival("hyper-pc3d", spread="competitive: "),
    "updates on Spread": lambda: (
        f"({updates('spread', 'ippo'):,} updates, MAPPO {updates('spread', 'mappo')})"
    ),
    "updates on LBF": lambda: f"({updates('lbf', 'ippo')}, MAPPO {updates('lbf', 'mappo')})",
    "time": times_of_updates,
}


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
        [1 - shut("rware", "pc3d", split) / mean("rware", "pc3d", split) for split in SPLITS],
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
        lambda split: 0.7 <= 1 - shut("rware", "pc3d", split) / mean("rware", "pc3d", split) < 0.8
    ),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_the_page_says_what_the_runs_give(name):
    """Once: of two copies, one would be forgotten when runs are added."""
    assert words_of(REPRODUCTION).count(SENTENCES[name]()) == 1


@pytest.mark.parametrize("sentence", FACTS)
def test_what_the_page_says_is_so(sentence):
    assert words_of(REPRODUCTION).count(sentence) == 1
    assert FACTS[sentence]()


@pytest.mark.parametrize("sentence", FACTS_OF_THE_README)
def test_what_the_readme_says_is_so(sentence):
    assert words_of(README).count(sentence) == 1
    assert FACTS_OF_THE_README[sentence]()


@pytest.mark.parametrize(
    "sentence",
    [times, ablations],
)
def test_the_readme_says_what_the_runs_give(sentence):
    assert words_of(README).count(sentence()) == 1
