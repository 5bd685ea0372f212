"""Writing a report: tables, figures, marl-eval's JSON, and the web page."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pc3d.report.figures.style import Figure, save
from pc3d.report.marl_eval import marl_eval
from pc3d.report.opening import most_telling
from pc3d.report.page.page import report_page
from pc3d.report.runs import Run, Runs
from pc3d.report.scores import read_table
from pc3d.report.sections import SECTIONS, Beginning, Section, begin
from pc3d.report.story import Point
from pc3d.report.tables.table import Table, latex, markdown, markdown_text
from pc3d.system.errors import BadInput
from pc3d.system.files import explained, write_atomically

TITLE = "Open-team cooperation: a report"
REPLAYED_SEEDS = 3  # of each method on each task; more would make the page heavy


def write_report(runs: Runs, folder: Path, progress: Callable[[str], None]) -> Path:
    """Make every section, write all files, and give back the page's path."""
    page = folder / "index.html"
    with explained(f"writing the report to {folder}"):
        for place in (folder / "tables", folder / "figures"):
            place.mkdir(parents=True, exist_ok=True)
        beginning = begin(runs)
        sections: list[Section] = []
        pictures = {figure.name: save(figure, folder / "figures") for figure in beginning.charts}
        for make in SECTIONS:
            section = make(runs)
            progress(section.heading)
            if not section.empty:
                sections.append(section)
                pictures |= _write_section(section, folder)
        write_atomically(folder / "report.md", _document(beginning, sections).encode())
        write_atomically(folder / "marl-eval.json", (json.dumps(marl_eval(runs), indent=1) + "\n").encode())
        progress("the page")
        replays = list(_replays(runs))
        opening = most_telling(runs, replays)
        text = report_page(TITLE, sections, pictures, replays, beginning=beginning, opening=opening)
        write_atomically(page, text.encode())
    return page


def _write_section(section: Section, folder: Path) -> dict[str, str]:
    """Write the section's files; the pictures, by name, are given back for the page."""
    for table in section.tables:
        write_atomically(folder / "tables" / f"{table.name}.md", markdown(table).encode())
        write_atomically(folder / "tables" / f"{table.name}.tex", latex(table).encode())
    return {figure.name: save(figure, folder / "figures") for figure in section.figures}


def _document(beginning: Beginning, sections: Iterable[Section]) -> str:
    """The whole report as one Markdown file that shows the figures beside it."""
    lines = [f"# {TITLE}", f"**{beginning.question}**", "\n".join(map(_bullet, beginning.points))]
    lines += [line for figure in beginning.charts[:1] for line in _picture(figure)]
    for section in sections:
        lines.append(f"## {section.heading}")
        lines += [markdown_text(paragraph) for paragraph in section.text.split("\n\n") if paragraph]
        for table in section.tables:
            lines += [_caption(table), markdown(table).rstrip()]
        lines += [line for figure in section.figures for line in _picture(figure)]
    return "\n\n".join(lines) + "\n"


def _bullet(point: Point) -> str:
    text = point.whole.replace("\n", " ")
    return f"- **{markdown_text(point.label)}.** {markdown_text(text)}"


def _picture(figure: Figure) -> list[str]:
    return [f"![{markdown_text(figure.title)}](figures/{figure.name}.svg)", _caption(figure)]


def _caption(shown: Table | Figure) -> str:
    return f"**{markdown_text(shown.title)}.** {markdown_text(shown.caption)}"


def _replays(runs: Runs) -> Iterable[dict[str, Any]]:
    """The recorded episodes of the first seeds of every method."""
    for _, _, of_method in runs.by_method:
        recorded = [run for run in of_method if run.folder.done and run.replays]
        for run in recorded[:REPLAYED_SEEDS]:
            yield from (read_replay(run, path) for path in run.replays)


def read_replay(run: Run, path: Path) -> dict[str, Any]:
    """A recorded episode with what is usual of its policy, if it is of that run."""
    content, experiment = read_table(path), run.experiment
    expected = {"task": experiment.task, "method": experiment.method, "seed": experiment.seed}
    known = all(content.get(name) == value for name, value in expected.items())
    if not known or path.stem != f"size-{content.get('team_size')}":
        raise BadInput(f"{path} is not a replay of {run.name} as pc3d evaluate writes it")
    return content | _usual(run, content["team_size"])


def _usual(run: Run, team_size: int) -> dict[str, Any]:
    """What the run's episodes bring on average, of which the replay is one."""
    returns = run.scores.returns.get(team_size, ()) if run.scores else ()
    return {"usual": {"return": float(np.mean(returns)), "episodes": len(returns)}} if len(returns) else {}
