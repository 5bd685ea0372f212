"""Puts the report's tables into the pages: `make results` runs it, so no number there is typed by hand.

A page says where a table goes with two comments, and whatever stands between them is replaced; a table that
the report does not have yet is said to be missing:

    <!-- table main -->
    <!-- end -->
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLES = ROOT / "results" / "report" / "tables"
PAGES = (ROOT / "README.md", ROOT / "docs" / "reproduction.md")
MISSING = "*The recorded runs do not make this table yet.*\n"
SLOT = re.compile(r"^<!-- table ([\w-]+) -->\n.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)


def filled(text: str) -> str:
    """A page with its tables as the report has them now."""

    def table(match: re.Match[str]) -> str:
        name = match.group(1)
        file = TABLES / f"{name}.md"
        content = file.read_text(encoding="utf-8") if file.exists() else MISSING
        return f"<!-- table {name} -->\n\n{content}\n<!-- end -->"

    return SLOT.sub(table, text)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"filled {page.relative_to(ROOT)}")
