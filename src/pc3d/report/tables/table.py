"""A table as data, and its spellings as Markdown and LaTeX; page.py has the one as HTML."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, pairwise

from pc3d.report.names import Heading

NOTHING = "–"
LONGEST_NUMBER = 40  # characters; what is longer is read as words
LATEX_SPELLINGS = {
    **{special: f"\\{special}" for special in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "–": "--",
    "→": r"$\to$",
    "≥": r"$\ge$",
}
MARKDOWN_SPECIALS = re.compile(r"([\\`*_\[\]|<>#])")


@dataclass(frozen=True)
class Cell:
    """A table's entry; `best` sets it in bold, `note` (the paper's number, say) stands small below."""

    text: str
    best: bool = False
    note: str = ""


@dataclass(frozen=True)
class Table:
    """What a reader sees; `name` is the file it is written to.

    The first entry of a row is its heading; `groups` are headings that span the columns after the first.
    """

    name: str
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    groups: tuple[tuple[str, int], ...] = ()

    @property
    def in_words(self) -> tuple[bool, ...]:
        """Which columns have words to be read, and may break their lines, in the place of numbers."""
        return tuple(
            any(len(row[place].text) > LONGEST_NUMBER for row in self.rows)
            for place in range(len(self.columns))
        )

    @property
    def full_columns(self) -> tuple[str, ...]:
        """Each column with its group's heading before it, for where headings cannot span."""
        groups = [name for name, width in self.groups for _ in range(width)] or [""] * len(self.columns)
        named = (f"{group} {column}".strip() for group, column in zip(groups, self.columns[1:], strict=False))
        return self.columns[0], *named


Row = tuple[Cell | str, ...]


def make_table(
    heading: Heading, columns: Iterable[str], rows: Iterable[Row], groups: Iterable[tuple[str, int]] = ()
) -> Table | None:
    """A table of cells and of texts that are just that; nothing where there is no row."""
    cells = tuple(tuple(Cell(text) if isinstance(text, str) else text for text in row) for row in rows)
    return Table(*heading, tuple(columns), cells, tuple(groups)) if cells else None


def markdown(table: Table) -> str:
    """A pipe table."""
    headings = [markdown_text(column) for column in table.full_columns]
    rules = [":---", *(":---" if words else "---:" for words in table.in_words[1:])]
    lines = [headings, rules] + [[_markdown_cell(cell) for cell in row] for row in table.rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def markdown_text(text: str) -> str:
    """Text that Markdown shows as it stands, whatever a name contains."""
    return " ".join(MARKDOWN_SPECIALS.sub(r"\\\1", text).split())


def latex(table: Table) -> str:
    """A booktabs table, ready for \\input."""
    lines = [
        r"\begin{table}[t]",
        r"\centering",
        rf"\caption{{\textbf{{{_latex_text(table.title)}.}} {_latex_text(table.caption)}}}",
        rf"\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{@{{}}l{''.join(_latex_column(words) for words in table.in_words[1:])}@{{}}}}",
        r"\toprule",
        *_latex_groups(table.groups),
        " & ".join(map(_latex_text, table.columns)) + r" \\",
        r"\midrule",
        *[line for row in table.rows for line in _latex_row(row)],
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _markdown_cell(cell: Cell) -> str:
    text = markdown_text(cell.text)
    note = f"<br>{markdown_text(cell.note)}" if cell.note else ""
    return (f"**{text}**" if cell.best else text) + note


def _latex_column(in_words: bool) -> str:
    return r"p{0.25\linewidth}" if in_words else "r"


def _latex_row(row: tuple[Cell, ...]) -> list[str]:
    """The row, and a smaller one below it for the notes, if there are any."""
    texts = [_latex_text(cell.text) for cell in row]
    cells = [rf"\textbf{{{text}}}" if cell.best else text for cell, text in zip(row, texts, strict=True)]
    lines = [" & ".join(cells) + r" \\"]
    if any(cell.note for cell in row):
        notes = [rf"{{\scriptsize {_latex_text(cell.note)}}}" if cell.note else "" for cell in row]
        lines.append(" & ".join(notes) + r" \\")
    return lines


def _latex_groups(groups: tuple[tuple[str, int], ...]) -> list[str]:
    """The line of spanning headings with a rule under each."""
    if not groups:
        return []
    headings = [rf"\multicolumn{{{width}}}{{c}}{{{_latex_text(name)}}}" for name, width in groups]
    ends = accumulate((width for _, width in groups), initial=1)
    rules = [rf"\cmidrule(lr){{{before + 1}-{end}}}" for before, end in pairwise(ends)]
    return [" & ".join(["", *headings]) + r" \\", "".join(rules)]


def _latex_text(text: str) -> str:
    return "".join(LATEX_SPELLINGS.get(letter, letter) for letter in text)
