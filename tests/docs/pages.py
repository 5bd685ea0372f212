"""What the pages show: their blocks of code and their command lines."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PLACEHOLDER = re.compile(r"\b[A-Z]{2,}\b|\.\.\.|…")  # a line that shows the form of a command
SHELLS = ("sh", "bash", "console", "")


def blocks(page: Path, *languages: str) -> list[str]:
    return [code for language, code in FENCE.findall(page.read_text()) if language in languages]


def shell_lines(page: Path) -> list[str]:
    """Every command line of a page, whatever it starts, without comments."""
    lines = "".join(blocks(page, *SHELLS)).replace("\\\n", " ").splitlines()
    bare = (re.sub(r"(^|\s)#.*", "", line).removeprefix("$ ").strip() for line in lines)
    return [line for line in bare if line]


def commands(page: Path) -> list[str]:
    """The command lines of pc3d on a page, without what comes before its name."""
    found = (re.match(r"(?:\S*/)?pc3d\s+(.*)", line) for line in shell_lines(page))
    return [match.group(1) for match in found if match]
