"""What `make docs` does to the pages on their way into the site.

The pages are written to be read in the checkout too, so some of their links lead out of docs/: the README and
the changes become pages of the site, figures of the results become its pictures, and a link to code becomes
the words it stands under.
"""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PAGES = {  # in the site, and in the checkout
    "index.md": "README.md",
    "changes.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
}
FIGURES = ROOT / "results" / "report" / "figures"
PICTURES = "pictures/results"  # where the site has them
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that stand outside of docs/."""
    for page, origin in PAGES.items():
        text = (ROOT / origin).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=rewritten(text, ROOT)))
    for figure in sorted(FIGURES.glob("*.svg")):
        files.append(File.generated(config, f"{PICTURES}/{figure.name}", abs_src_path=str(figure)))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    return rewritten(markdown, ROOT / "docs")


def rewritten(text: str, folder: Path) -> str:
    """The text of a page in this folder, with every link as the site needs it."""

    def replacement(match: re.Match[str]) -> str:
        picture, words, target = match.groups()
        if re.match(r"\w+:|#", target):
            return match.group()
        path, mark, anchor = target.partition("#")
        place = (folder / path).resolve()
        for page, origin in PAGES.items():
            if place == ROOT / origin:
                return f"[{words}]({page}{mark}{anchor})"
        if place.is_relative_to(ROOT / "docs"):
            return f"{picture}[{words}]({place.relative_to(ROOT / 'docs')}{mark}{anchor})"
        if place.is_relative_to(FIGURES):
            return f"{picture}[{words}]({PICTURES}/{place.name})"
        # Pages of the site are rewritten twice; their links already lead to where they should.
        if not place.exists():
            return match.group()
        return words

    return LINK.sub(replacement, text)
