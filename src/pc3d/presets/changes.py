"""Settings by name: "ppo.epochs" and its value, applied to an experiment or read off two of them.

Only these sections can be changed by a search or a preset file. Team sizes and curricula are in none of them.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, get_args, get_origin, get_type_hints

from pc3d.experiment.experiment import Experiment
from pc3d.system.errors import BadInput, refuse_unknown, unknown_name
from pc3d.system.plain import as_text, from_plain

NETWORKS = ("actor", "critic", "distillation", "recipe")
Changes = Mapping[str, Any]  # by "section.setting"


def sections(experiment: Experiment) -> dict[str, str]:
    """The fields of an experiment that can be changed, by the names that settings have before them."""
    return {experiment.algorithm.section: "algorithm", **{name: name for name in NETWORKS}}


def changed(experiment: Experiment, changes: Changes, where: str) -> Experiment:
    """The experiment with other settings; `where` says in an error who asked for them."""
    for section, field in sections(experiment).items():
        new = {
            name.partition(".")[2]: value
            for name, value in changes.items()
            if _section(name, experiment) == section
        }
        if new:
            present = getattr(experiment, field)
            settings = from_plain(type(present), {**asdict(present), **new}, f"{where}: {section}")
            experiment = replace(experiment, **{field: settings})
    return experiment


def changes_between(old: Experiment, new: Experiment) -> dict[str, Any]:
    """The settings of these sections that differ, with the new values."""
    before, after = all_settings(old), all_settings(new)
    return {name: value for name, value in after.items() if before.get(name) != value}


def all_settings(experiment: Experiment) -> dict[str, Any]:
    """Every setting of these sections."""
    return {
        f"{section}.{name}": value
        for section, field in sections(experiment).items()
        for name, value in vars(getattr(experiment, field)).items()
    }


def setting(experiment: Experiment, name: str) -> Any:
    """The value of one setting."""
    section, _, field = name.partition(".")
    return getattr(getattr(experiment, sections(experiment)[section]), field)


def parse_change(text: str, experiment: Experiment) -> tuple[str, Any]:
    """What a person writes, such as ppo.epochs=8 or actor.widths=128,64, as a name and a value."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not value:
        raise BadInput(f"a fixed setting is written as ppo.epochs=8, not {text!r}")
    section = _section(name, experiment)
    hints = get_type_hints(type(getattr(experiment, sections(experiment)[section])))
    field = name.partition(".")[2]
    refuse_unknown(f"setting in {section}", field, hints)
    return name, from_plain(hints[field], _plain(hints[field], value), name)


def as_short_text(value: Any) -> str:
    """A value as a table shows it."""
    return f"{value:.3g}" if isinstance(value, float) else as_text(value)


def _section(name: str, experiment: Experiment) -> str:
    section, dot, field = name.partition(".")
    known = sections(experiment)
    if section not in known or not dot or not field:
        raise unknown_name("group of settings that a search may change", section, known)
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
