"""Settings by name: "ppo.epochs" and its value, applied to an experiment or read off two of them.

Only these sections can be changed by a search or a preset file. Team sizes and curricula are in none of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any, get_args, get_origin, get_type_hints

from pc3d.errors import BadInput, unknown_name
from pc3d.plain import from_plain
from pc3d.settings import Experiment

SECTIONS = ("ppo", "actor", "critic", "distillation", "recipe")
Changes = Mapping[str, Any]  # by "section.setting"


def changed(experiment: Experiment, changes: Changes, where: str) -> Experiment:
    """The experiment with other settings; `where` says in an error who asked for them."""
    for section in SECTIONS:
        new = {name.partition(".")[2]: value for name, value in changes.items() if _section(name) == section}
        if new:
            present = getattr(experiment, section)
            settings = from_plain(type(present), {**asdict(present), **new}, f"{where}: {section}")
            experiment = replace(experiment, **{section: settings})
    return experiment


def changes_between(old: Experiment, new: Experiment) -> dict[str, Any]:
    """The settings of these sections that differ, with the new values."""
    found = {}
    for section in SECTIONS:
        before, after = getattr(old, section), getattr(new, section)
        for field in fields(before):
            if getattr(before, field.name) != getattr(after, field.name):
                found[f"{section}.{field.name}"] = getattr(after, field.name)
    return found


def all_settings(experiment: Experiment) -> dict[str, Any]:
    """Every setting of these sections."""
    return {
        f"{section}.{name}": value
        for section in SECTIONS
        for name, value in vars(getattr(experiment, section)).items()
    }


def setting(experiment: Experiment, name: str) -> Any:
    """The value of one setting."""
    section, _, field = name.partition(".")
    return getattr(getattr(experiment, section), field)


def parse_change(text: str, experiment: Experiment) -> tuple[str, Any]:
    """What a person writes, such as ppo.epochs=8 or actor.widths=128,64, as a name and a value."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not value:
        raise BadInput(f"a fixed setting is written as ppo.epochs=8, not {text!r}")
    section = _section(name)
    hints = get_type_hints(type(getattr(experiment, section)))
    field = name.partition(".")[2]
    if field not in hints:
        raise unknown_name(f"setting in {section}", field, hints)
    return name, from_plain(hints[field], _plain(hints[field], value), name)


def as_text(value: Any) -> str:
    """A value as it is written on a command line, exactly."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def as_short_text(value: Any) -> str:
    """A value as a table shows it."""
    return f"{value:.3g}" if isinstance(value, float) else as_text(value)


def _section(name: str) -> str:
    section, dot, field = name.partition(".")
    if section not in SECTIONS or not dot or not field:
        raise unknown_name("group of settings that a search may change", section, SECTIONS)
    return section


def _plain(kind: Any, text: str) -> Any:
    """The text as plain data of a setting's type; text that is none is left for the type's own refusal."""
    try:
        if get_origin(kind) is tuple:
            return [get_args(kind)[0](part) for part in re.split(r"[ ,]+", text)]
        if kind is bool:
            return {"true": True, "false": False}.get(text.lower(), text)
        return kind(text) if kind in (int, float) else text
    except ValueError:
        return text
