"""Reading the small TOML files people write: presets, studies, team sizes. What is wrong is a sentence."""

import tomllib
from pathlib import Path
from typing import Any

from pc3d.system.errors import BadInput
from pc3d.system.files import read_bytes

LARGEST_FILE = 64 * 1024  # bytes; a preset of every setting there is has about two thousand
MOST_DOTS = 200  # in a line; the parser takes minutes for a key of tens of thousands of parts


def read_toml(path: Path, kind: str) -> dict[str, Any]:
    """The content of a file of that kind, such as "study file"."""
    content = read_bytes(path, LARGEST_FILE, follow=True)
    try:
        return parse_toml(content.decode("utf-8-sig"))  # some editors begin a file with a mark
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not a valid {kind}: it is not text in UTF-8") from None
    except ValueError as error:
        raise BadInput(f"{path} is not a valid {kind}: {error}") from None


def parse_toml(text: str) -> dict[str, Any]:
    """Text as plain data; whatever is wrong with it, absurd numbers and depths included, is a ValueError."""
    if any(line.count(".") > MOST_DOTS for line in text.splitlines()):
        raise ValueError(f"more than {MOST_DOTS} dots in a line")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("too deep") from None
