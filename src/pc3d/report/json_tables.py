"""Reading the JSON tables that lie in a run's folder: whatever is wrong with one becomes a sentence."""

from pathlib import Path
from typing import Any

from pc3d.errors import BadInput
from pc3d.plain import parse


def read_table(path: Path) -> dict[str, Any]:
    """The names and values of a JSON file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read as JSON: {error}") from None
    content = parse(text, str(path))
    if not isinstance(content, dict):
        raise BadInput(f"{path} is not a table of names and values")
    return content
