"""The licences of all locked packages as a page, from what each package says of itself: make lock."""

import re
import sys
from email.message import Message
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import cast

ROOT = Path(__file__).parents[1]
LOCK, PAGE = ROOT / "requirements.lock", ROOT / "docs" / "licences.md"
PINNED = re.compile(r"^([\w.-]+)==([^\s\\;]+)", re.MULTILINE)
LONGEST = 60  # characters of a licence's name: some packages put the whole text there
# Named nowhere but in the text of their LICENSE files.
SAID_ELSEWHERE = {"lbforaging": "MIT", "rware": "MIT"}
HEADING = """# Licences

What `make setup` installs, and under which licence each package says it is; `make lock` writes this page.
pc3d itself is under the Apache licence 2.0 and contains none of their code. Only Equinox, JAX, jaxtyping,
Jinja2, Matplotlib, NumPy, Optax, Pillow, Rich, safetensors, SciPy and tyro, with what they need, come with
`pip install .`; the others belong to extras and to development. Copyleft among them: pygame and pygame-ce
(LGPL), which draw some original environments.

| package | version | licence |
| --- | --- | --- |
"""


def page() -> str:
    """The whole page; a sentence if a locked package is not installed."""
    rows = [f"| {name} | {version} | {licence_of(name)} |\n" for name, version in locked().items()]
    return HEADING + "".join(rows)


def locked() -> dict[str, str]:
    """The locked packages with their versions."""
    return dict(PINNED.findall(LOCK.read_text(encoding="utf-8")))


def licence_of(name: str) -> str:
    """As the package says: by an expression, by a short name, or by its classifier."""
    try:
        said = cast(Message, metadata(name))
    except PackageNotFoundError:
        sys.exit(f"{name} is locked and not installed: make setup")
    short = (said.get("License") or "").strip()
    classified = [
        one.rpartition(" :: ")[2] for one in said.get_all("Classifier") or [] if "License ::" in one
    ]
    is_name = short and "\n" not in short and len(short) <= LONGEST and short != "UNKNOWN"
    found = said.get("License-Expression") or (short if is_name else ", ".join(classified))
    return found or SAID_ELSEWHERE.get(name, "")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
