"""Reading the JSON tables that lie in a run's folder: whatever is wrong with one becomes a sentence."""

from pathlib import Path
from typing import Any

from pc3d.system.errors import BadInput
from pc3d.system.files import read_text
from pc3d.system.plain import parse


def read_table(path: Path) -> dict[str, Any]:
    """The names and values of a JSON file."""
    content = parse(read_text(path), str(path))
    if not isinstance(content, dict):
        raise BadInput(f"{path} is not a table of names and values")
    return content
