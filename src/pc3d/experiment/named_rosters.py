"""Roster processes by name, from a file, or from a name with a few settings changed."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pc3d.experiment.roster_process import (
    CONSTANT,
    Churn,
    RosterProcess,
    Shock,
    Spans,
    process_from_plain,
    process_to_plain,
)
from pc3d.system.errors import BadInput, shortened, unknown_name
from pc3d.system.toml_file import parse_toml, read_toml

NAMED: dict[str, RosterProcess] = {
    "constant": CONSTANT,
    "lose-one": Shock(leave=1),
    "lose-half": Shock(leave=0.5),
    "gain-one": Shock(join=1),
    "gain-half": Shock(join=0.5),
    "replace-one": Shock(leave=1, join=1),
    "replace-half": Shock(leave=0.5, join=0.5),
    # An agent stays for a whole episode on average, for half of one, and for a quarter.
    "churn-slow": Churn(leave=1, join=1, clock="episodes"),
    "churn": Churn(leave=2, join=2, clock="episodes"),
    "churn-fast": Churn(leave=4, join=4, clock="episodes"),
    # As the code of GPL (Rahman and others, ICML 2021) has them; the learner of its LBF is the first slot.
    "gpl-lbf": Spans(smallest=2, present=(10, 19), away=(15, 24), stay=1),
    "gpl-wolfpack": Churn(smallest=1, leave=0.05, join=0.05, minimum_stay=26, per="team", burst=(0.7, 0.3)),
}
SETS = {
    "shocks": ("lose-one", "lose-half", "gain-one", "gain-half", "replace-one", "replace-half"),
    "churns": ("churn-slow", "churn", "churn-fast"),
}
ALL = "all"  # of the sets
SUFFIX = ".toml"


def rosters_in(text: str) -> tuple[str, ...] | None:
    """The rosters of a set by its name; None if it is none."""
    return tuple(name for names in SETS.values() for name in names) if text == ALL else SETS.get(text)


def roster_named(text: str, more: Iterable[str] = ()) -> RosterProcess:
    """What a person asks for: a name, a file, or a name with other settings, as in churn:leave=4,join=4.

    A name that is none is told what else there is, and `more` that could have been meant.
    """
    if text.endswith(SUFFIX):
        return process_from_plain(read_toml(Path(text), "roster file"), text)
    name, _, changes = text.partition(":")
    if name not in NAMED:
        raise unknown_name("roster", name, (*NAMED, *more, f"your own FILE{SUFFIX}"))
    if not changes:
        return NAMED[name]
    settings = {**process_to_plain(NAMED[name]), **_settings(text, changes)}
    return process_from_plain(settings, shortened(text))


def roster_label(text: str) -> str:
    """What files about it are called."""
    name, _, changes = Path(text).stem.partition(":") if text.endswith(SUFFIX) else text.partition(":")
    kept = "".join(sign if sign.isalnum() or sign in ".-" else "-" for sign in changes)
    return f"{name}-{kept}" if kept else name


def _settings(text: str, changes: str) -> dict[str, Any]:
    try:
        found = parse_toml(f"settings = {{{changes}}}")
    except ValueError:
        found = {}
    if list(found) != ["settings"] or "kind" in found["settings"]:
        raise BadInput(
            f"a roster with other settings is written as churn:leave=4,join=4, not {shortened(text)!r}"
        )
    settings: dict[str, Any] = found["settings"]
    return settings
