"""Sentences about the results, made from the recorded runs, are those of the pages.

`make results` fills in the tables but not the sentences, so what these say is worked out here once more.
"""

import re

import numpy as np
import pytest

from pc3d.report.tables.results import SPLITS
from tests.docs.pages import README, REPRODUCTION, ROOT, words_of
from tests.docs.recorded import (
    WHOLE_STUDIES,
    at_size,
    gains_by_stage,
    leads,
    longer,
    mean,
    printed,
    runs,
    times_of_the_best,
    updates,
    verdicts,
)

SPEED = ROOT / "docs" / "speed.md"
IN_WORDS = {5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", 10: "ten", 11: "eleven", 12: "twelve"}
SIZES = {"train": "training", "validation": "validation", "test": "test"}
OF_PC3D = {"better": "**better**", "hint: better": "a hint", "higher": "higher", "lower": "lower"}
OF_THE_RIVAL = {
    "hint: better": "a hint that it is worse",
    "hint: worse": "a hint that it is better",
    "higher": "lower",
    "lower": "higher",
}


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


@pytest.mark.parametrize("name", SENTENCES)
def test_the_page_says_what_the_runs_give(name):
    """Once: of two copies, one would be forgotten when runs are added."""
    assert words_of(REPRODUCTION).count(SENTENCES[name]()) == 1


@pytest.mark.parametrize(
    "sentence",
    [times, ablations],
)
def test_the_readme_says_what_the_runs_give(sentence):
    assert words_of(README).count(sentence()) == 1
