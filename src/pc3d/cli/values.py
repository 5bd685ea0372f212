"""Values that an option cannot have, answered in a sentence where the option parser would draw a box."""

import types
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pc3d.cli.booleans import TRUTHS
from pc3d.experiment.option_names import NEVER_OPTIONS
from pc3d.system.errors import BadInput, refuse_unknown, shortened
from pc3d.system.plain import IN_WORDS


def refuse_values(command: Any, words: list[str]) -> None:
    """Refuse words after an option that are not of its kind; a command is a class, or has its defaults."""
    kinds = dict(kinds_of(command)) if is_dataclass(command) else {}
    for option, values in _given(words):
        if option in kinds and values:
            _check(f"--{option}", kinds[option], values)


def kinds_of(owner: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every option of a command and of the records that it is made of, with the kind of its values."""
    hints = get_type_hints(owner if isinstance(owner, type) else type(owner), include_extras=True)
    for field in fields(owner):
        hint, value = hints[field.name], getattr(owner, field.name, None)
        name = before + _name(field.name, hint, value)
        kind = type(value) if is_dataclass(value) else _bare(hint)
        if is_dataclass(kind) and name not in NEVER_OPTIONS:
            yield from kinds_of(value if is_dataclass(value) else kind, f"{name}." if name else "")
        elif isinstance(value, tuple) and value and is_dataclass(value[0]):
            for place, part in enumerate(value):
                yield from kinds_of(part, f"{name}.{place}.")
        else:
            yield name, kind


def _name(field: str, hint: Any, value: Any) -> str:
    """As it is said beside the field; an algorithm's settings go by its own name."""
    named = (getattr(said, "name", None) for said in getattr(hint, "__metadata__", ()))
    usual = getattr(type(value), "section", "") or field
    return next((name for name in named if name is not None), usual.replace("_", "-"))


def _given(words: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The options among the words, each with all that stands before the next one."""
    starts = [place for place, word in enumerate(words) if word.startswith("--")]
    for begin, end in pairwise([*starts, len(words)]):
        name, said, value = words[begin][2:].partition("=")
        yield name.replace("_", "-"), [value] if said else words[begin + 1 : end]


def _check(option: str, kind: Any, values: list[str]) -> None:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        inner = [_bare(one) for one in get_args(kind) if one is not type(None)]
        if len(inner) == 1 and values[0] != "None":
            _check(option, inner[0], values)
    elif origin is tuple:
        for value in values:
            _check(option, _bare(get_args(kind)[0]), [value])
    elif origin is Literal:
        refuse_unknown(f"choice for {option}", values[0], get_args(kind))
    elif kind is bool:
        refuse_unknown(f"choice for {option}", values[0], tuple(TRUTHS.values()))
    elif kind in (int, float):
        try:
            kind(values[0])
        except ValueError:
            raise BadInput(f"{option} must be {IN_WORDS[kind]}, not {shortened(values[0])!r}") from None


def _bare(hint: Any) -> Any:
    """A type without what is said beside it."""
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint
