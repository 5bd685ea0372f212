"""Mixes as plain data: in TOML files that people write, and in experiment.json."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pc3d.experiment.kinds import USUAL, Kind
from pc3d.experiment.mixes import SPLITS, Mix, Mixes, Seen
from pc3d.system.errors import BadInput, refuse_unknown
from pc3d.system.plain import from_plain
from pc3d.system.toml_file import read_toml

Plain = dict[str, Any]


def read_mixes(path: Path) -> Mixes:
    """The mixes in a file, whose capabilities are seen of all teammates in sight if it does not say."""
    return mixes_from_plain(read_toml(path, "file of mixes"), str(path))


def mixes_to_plain(mixes: Mixes) -> Plain:
    """Kinds first, then each split's mixes as amounts of them."""
    return {
        "kinds": {kind.name: dict(kind.abilities) for kind in mixes.kinds},
        **{split: {mix.name: _amounts(mix) for mix in mixes.of(split)} for split in SPLITS},
        "seen": mixes.seen,
    }


def mixes_from_plain(plain: Any, where: str) -> Mixes:
    """Mixes from plain data, checked but for what only the task knows; `where` says who asked for them."""
    plain = _table(plain, where)
    for name in plain:
        refuse_unknown(f"entry in {where}", name, ("kinds", *SPLITS, "seen"))
    kinds = {USUAL.name: USUAL}
    for name, abilities in _table(plain.get("kinds", {}), f"{where}: kinds").items():
        kinds[name] = Kind(name, tuple(_numbers(abilities, f"{where}: kinds.{name}").items()))
    splits = {
        split: tuple(
            mix_of(name, _numbers(amounts, f"{where}: {split}.{name}"), kinds)
            for name, amounts in _table(plain.get(split, {}), f"{where}: {split}").items()
        )
        for split in SPLITS
    }
    seen = from_plain(Seen, plain.get("seen", "visible"), f"{where}: seen")
    if not any(splits.values()):
        raise BadInput(f"{where} must name at least one mix in its table train")
    return Mixes(**splits, seen=seen)


def mix_of(name: str, amounts: Mapping[str, float], kinds: Mapping[str, Kind]) -> Mix:
    """A mix of known kinds."""
    for kind in amounts:
        refuse_unknown("kind of agents", kind, kinds)
    return Mix(name, tuple(kinds[kind] for kind in amounts), tuple(amounts.values()))


def _amounts(mix: Mix) -> Plain:
    return {kind.name: amount for kind, amount in zip(mix.kinds, mix.amounts, strict=True)}


def _numbers(plain: Any, where: str) -> dict[str, float]:
    return {
        name: from_plain(float, value, f"{where}: {name}") for name, value in _table(plain, where).items()
    }


def _table(plain: Any, where: str) -> Plain:
    if not isinstance(plain, dict):
        raise BadInput(f"{where} must be a table of names and values")
    return plain
