"""Writing a report: Markdown and LaTeX tables, PNG and SVG figures, marl-eval's JSON, and the web page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pc3d.files import explained, write_atomically
from pc3d.plain import parse
from pc3d.report import page
from pc3d.report.figures import save
from pc3d.report.marl_eval import marl_eval
from pc3d.report.runs import Runs
from pc3d.report.sections import SECTIONS, Section
from pc3d.report.tables import Table, latex, markdown, markdown_text

TITLE = "Open-team cooperation: a report"
REPLAYED_SEEDS = 1  # of each method on each task; more would make the page heavy


def write_report(runs: Runs, folder: Path, progress: Callable[[str], None]) -> Path:
    """Make every section, write all files, and give back the page's path."""
    with explained(f"writing the report to {folder}"):
        for place in (folder / "tables", folder / "figures"):
            place.mkdir(parents=True, exist_ok=True)
        sections, shown = [], []
        for make in SECTIONS:
            section = make(runs)
            progress(section.heading)
            sections.append(section)
            shown.append(_written(section, folder))
        write_atomically(folder / "report.md", _document(sections).encode())
        write_atomically(folder / "marl-eval.json", (json.dumps(marl_eval(runs), indent=1) + "\n").encode())
    progress("the page")
    return page.write_page(folder, title=TITLE, sections=shown, replays=list(_replays(runs)))


def _written(section: Section, folder: Path) -> page.Section:
    """Write the section's files; what the page needs of it is given back."""
    for table in section.tables:
        write_atomically(folder / "tables" / f"{table.name}.md", markdown(table).encode())
        write_atomically(folder / "tables" / f"{table.name}.tex", latex(table).encode())
    figures = [
        page.Figure(f"{figure.title}. {figure.caption}", save(figure, folder / "figures"))
        for figure in section.figures
    ]
    return page.Section(
        section.heading, section.text, tuple(map(_page_table, section.tables)), tuple(figures)
    )


def _page_table(table: Table) -> page.Table:
    return page.Table(f"{table.title}. {table.caption}", table.columns, table.rows, table.groups)


def _document(sections: Iterable[Section]) -> str:
    """The whole report as one Markdown file that shows the figures beside it."""
    lines = [f"# {TITLE}"]
    for section in sections:
        lines.append(f"## {section.heading}")
        lines += [markdown_text(paragraph) for paragraph in section.text.split("\n\n") if paragraph]
        for table in section.tables:
            lines += [
                f"**{markdown_text(table.title)}.** {markdown_text(table.caption)}",
                markdown(table).rstrip(),
            ]
        for figure in section.figures:
            lines.append(f"![{markdown_text(figure.title)}](figures/{figure.name}.svg)")
            lines.append(f"**{markdown_text(figure.title)}.** {markdown_text(figure.caption)}")
    return "\n\n".join(lines) + "\n"


def _replays(runs: Runs) -> Iterable[dict[str, Any]]:
    """The recorded episodes of the first seeds of every method."""
    for task in runs.tasks:
        for method in runs.methods(task):
            recorded = [run for run in runs.finished(task, method) if (run.folder.path / "replays").is_dir()]
            for run in recorded[:REPLAYED_SEEDS]:
                for path in sorted((run.folder.path / "replays").glob("size-*.json")):
                    yield parse(path.read_text(encoding="utf-8"), str(path))
