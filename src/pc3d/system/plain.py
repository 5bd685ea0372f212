"""Settings to JSON and back: strict, typed, and unable to run anything."""

import json
import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pc3d.system.errors import BadInput, refuse_unknown, unknown_name

LARGEST_WHOLE_NUMBER = 2**63 - 1
NO_KINDS: Mapping[str, Any] = {}
IN_WORDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


def parse(text: str, where: str) -> Any:
    """JSON as plain data; anything malformed, ambiguous or absurdly deep becomes our own error."""
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{where} is not valid JSON: {error}") from None


def from_plain(kind: Any, value: Any, where: str, narrower: Mapping[str, Any] = NO_KINDS) -> Any:
    """Plain data as an object of that type, checked all the way down.

    Where a field's type stands for several, `narrower` says which one is meant.
    """
    if is_dataclass(kind):
        return _dataclass(kind, value, where, narrower)
    origin = get_origin(kind)
    if origin is Literal:
        if value not in get_args(kind):
            given = value if isinstance(value, str) else _short(value)
            raise unknown_name(f"choice for {where}", given, [str(choice) for choice in get_args(kind)])
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise BadInput(f"{where} must be a list, not {_short(value)}")
        return tuple(from_plain(get_args(kind)[0], item, where) for item in value)
    if origin in (Union, types.UnionType):
        (inner,) = (choice for choice in get_args(kind) if choice is not type(None))
        return None if value is None else from_plain(inner, value, where)
    return _number_or_text(kind, value, where)


def differences(old: Any, new: Any, path: str = "") -> list[str]:
    """Where two settings of one kind differ, as `name: old → new`."""
    if is_dataclass(old) and type(old) is type(new):
        found = []
        for field in fields(old):
            if not field.compare:  # words about it alone
                continue
            before, after = getattr(old, field.name), getattr(new, field.name)
            # An algorithm's settings go by its own name, and a task's rules by none.
            alike = type(before) is type(after)
            name = getattr(type(before), "section", field.name) if alike else field.name
            found += differences(before, after, ".".join(filter(None, (path, name))))
        return found
    return [] if old == new else [f"{path}: {_said(old)} → {_said(new)}"]


def _said(value: Any) -> str:
    """A list of records in the words that they have for a person."""
    listed = isinstance(value, tuple) and any(map(is_dataclass, value))
    return "; ".join(map(str, value)) if listed else str(value)


def in_short(changed: Sequence[str], most: int = 3, longest: int = 120) -> str:
    """The first of some differences, none of them too long, and how many more there are."""
    told = [one if len(one) <= longest else f"{one[:longest]}…" for one in changed[:most]]
    more = len(changed) - most
    return "; ".join([*told, f"and {more} more"] if more > 0 else told)


def as_text(value: Any) -> str:
    """A value as it is written on a command line, exactly."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def amount(count: int, thing: str) -> str:
    """How many of a thing: 1 job, 2 jobs."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def printable(text: str) -> str:
    """Text whose characters that are none, such as those that steer a terminal, are spelt out."""
    return "".join(one if one.isprintable() or one == "\n" else ascii(one)[1:-1] for one in text)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A table that says a thing twice could be read in two ways."""
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a name stands in it twice")
    return table


def _dataclass(kind: Any, value: Any, where: str, narrower: Mapping[str, Any]) -> Any:
    if not isinstance(value, dict):
        raise BadInput(f"{where} must be a table of settings, not {_short(value)}")
    known = fields(kind)
    hints = {**get_type_hints(kind), **narrower}
    for name in value:
        refuse_unknown(f"setting in {where}", name, [field.name for field in known])
    required = [field.name for field in known if field.default is field.default_factory is MISSING]
    missing = [name for name in required if name not in value]
    if missing:
        raise BadInput(f"{where} lacks {', '.join(missing)}")
    return kind(**{name: from_plain(hints[name], item, f"{where}: {name}") for name, item in value.items()})


def _number_or_text(kind: Any, value: Any, where: str) -> Any:
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:  # a whole number of hundreds of digits
            number = math.inf
        if not math.isfinite(number):
            raise BadInput(f"{where} must be a finite number")
        return number
    if type(value) is not kind:
        raise BadInput(f"{where} must be {IN_WORDS.get(kind, kind.__name__)}, not {_short(value)}")
    if kind is int and abs(value) > LARGEST_WHOLE_NUMBER:
        raise BadInput(f"{where} must be a whole number of at most 19 digits")
    return value


def _short(value: Any) -> str:
    # What may be longer or deeper than Python can print.
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    if isinstance(value, int) and abs(value) > LARGEST_WHOLE_NUMBER:
        return "a huge number"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
