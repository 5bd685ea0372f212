"""Options of an experiment without the option parser, which takes a fifth of a second: studies have many."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

from pc3d.experiment.experiment import Experiment
from pc3d.presets.changes import changed, parse_change, sections
from pc3d.system.errors import BadInput

WHOLE_NUMBERS = ("episodes", "seed")


def changed_by_words(experiment: Experiment, words: list[str]) -> Experiment | None:
    """The experiment with the words' settings; None if the words are more than that, or wrong in any way.

    What is wrong is then said by the option parser, to which nobody's time is too precious.
    """
    starts = [place for place, word in enumerate(words) if word.startswith("--")]
    if starts[:1] != [0][: len(words)]:
        return None
    try:
        for begin, end in pairwise([*starts, len(words)]):
            name, values = words[begin][2:].replace("-", "_"), words[begin + 1 : end]
            found = _changed(experiment, name, values)
            if found is None:
                return None
            experiment = found
    except BadInput:
        return None
    return experiment


def _changed(experiment: Experiment, name: str, values: list[str]) -> Experiment | None:
    if name in WHOLE_NUMBERS and len(values) == 1 and values[0].isdecimal():
        number: Any = int(values[0])
        return replace(experiment, **{name: number})
    if not values or "=" in name or name.partition(".")[0] not in sections(experiment):
        return None
    named, value = parse_change(f"{name}={','.join(values)}", experiment)
    return changed(experiment, {named: value}, f"--{name}")
