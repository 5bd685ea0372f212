"""The options in a study file: settings of its runs, and nothing else that a command line could say."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import product

from pc3d.experiment.option_names import options_for
from pc3d.play.hosted.crew import DEFAULT_HOSTING
from pc3d.presets.preset_file import usual_of_any_size
from pc3d.runs.habits import DEFAULT_HABITS
from pc3d.system.errors import LONGEST_NAME, BadInput

DECIDED_BY_STUDY = ("folder", "seed", "preset", "specialist", "sealed")
TEAM_SIZES = ("rosters", "train-sizes", "validation-sizes", "test-sizes", "stages")
TEAMS = ("roster", "mix", "capabilities")
OPTION = re.compile(r"--([A-Za-z][\w.-]*)(=.*)?")
VALUE = re.compile(r"[^-].*|-\.?\d.*|-")  # anything but an option; negative numbers begin with a dash, too
LONGEST_WORDS = 2000  # characters of one list of options; they end in a command line, and as a folder's name


def check_options(lines: Iterable[str], tasks: tuple[str, ...], methods: tuple[str, ...]) -> None:
    """Refuse what is not a setting of a run of these tasks and methods.

    Words that a file says end in a command: the option parser has flags of its own that write files.
    """
    if not (tasks and methods):  # a group of no runs
        return
    known: set[str] = set()
    for words in lines:
        if len(words) > LONGEST_WORDS or not all(map(str.isprintable, words.split())):
            raise BadInput(f"a study's options are at most {LONGEST_WORDS} printable characters each")
        for place, word in enumerate(words.split()):
            known = known or _known(tasks, methods)
            option = OPTION.fullmatch(word)
            if option:
                _check_name(option[1].replace("_", "-"), known)
            elif place == 0 or not VALUE.fullmatch(word):
                raise BadInput(
                    "a study's options are settings of a run, such as --ppo.epochs 4, "
                    f"not {word[:LONGEST_NAME]!r}"
                )


def _check_name(name: str, known: set[str]) -> None:
    if name in DECIDED_BY_STUDY:
        raise BadInput(f"a study's options cannot have --{name}: the study itself decides that")
    if re.sub(r"\.\d+\.", ".0.", name) not in known:
        meant = get_close_matches(name, known, n=1)
        hint = f": perhaps you meant --{meant[0]}" if meant else ""
        raise BadInput(f"a run has no setting --{name[:LONGEST_NAME]} that a study's options could be{hint}")


def _known(tasks: tuple[str, ...], methods: tuple[str, ...]) -> set[str]:
    """By name; any stage of a curriculum goes by the first."""
    experiments = [usual_of_any_size(task, method) for task, method in product(tasks, methods)]
    settings = [*experiments, DEFAULT_HABITS, DEFAULT_HOSTING]
    return {name for owner in settings for name, _ in options_for(owner)} | {"horizon", *TEAM_SIZES, *TEAMS}
