"""Small JSON tables that carry their own checksum: a single wrong bit in one of them is noticed."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from pc3d.system.errors import BadInput, DamagedFile
from pc3d.system.files import digest_of, read_text, write_atomically
from pc3d.system.plain import parse

CHECKSUM = "sha256"
LARGEST_TABLE = 2**20  # bytes; an experiment has about four thousand


def write_checked(path: Path, content: dict[str, Any]) -> None:
    """Write a table with its checksum; whole or not at all."""
    write_atomically(path, _text(content).encode())


def read_checked(path: Path, names: Collection[str]) -> dict[str, Any]:
    """Read a table of these names, if it is byte for byte what was written.

    Tables of the first versions have no checksum and are taken as they are. Because other names are refused,
    no single wrong bit makes a table look like one of those. The checksum stays in it, to tell them apart.
    """
    text = read_text(path, LARGEST_TABLE)
    try:
        content = parse(text, str(path))
    except BadInput as error:
        raise DamagedFile(str(error)) from None
    if not isinstance(content, dict) or not content.keys() <= {*names, CHECKSUM}:
        raise DamagedFile(f"{path} is damaged: it is not a table of {', '.join(names)}")
    if CHECKSUM in content and _text(content) != text:
        raise DamagedFile(f"{path} is damaged: its content does not match its checksum")
    return content


def _text(content: dict[str, Any]) -> str:
    told = {name: value for name, value in content.items() if name != CHECKSUM}
    checksum = digest_of(json.dumps(told, sort_keys=True).encode())
    return json.dumps({**told, CHECKSUM: checksum}, sort_keys=True, indent=2) + "\n"
