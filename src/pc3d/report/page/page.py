"""The web page: tables, figures and a replay viewer in one file that needs neither network nor server.

All text is escaped on its way in, and the page's own policy lets nothing run but our script and nothing load.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from pc3d.report.names import method_title, methods_in_order, tasks_in_order
from pc3d.report.tables.table import Cell, Table
from pc3d.system.errors import BadInput
from pc3d.system.files import explained, write_atomically

if TYPE_CHECKING:  # a page of replays alone is made without loading what draws figures
    from pc3d.report.figures.style import Figure
    from pc3d.report.sections import Section

REPLAY_FORMAT = 1
INDEX_FIELDS = ("task", "method", "seed", "team_size", "split", "rollout", "return")
# In the order they run: each file uses only what stands in those before it.
SCRIPTS = (
    "palette.js",
    "pen.js",
    "agents.js",
    "spread.js",
    "foraging.js",
    "warehouse.js",
    "replays.js",
    "player.js",
    "chart.js",
    "elements.js",
    "focus.js",
    "stage.js",
    "viewer.js",
)


def write_page(
    folder: Path,
    *,
    title: str,
    sections: Sequence[Section],
    pictures: Mapping[str, str],
    replays: Sequence[dict[str, Any]],
) -> Path:
    """Write the page of a report into the folder, and say where; pictures are SVGs by figure name."""
    path = folder / "index.html"
    page = _page(title, sections, pictures, replays)
    with explained(f"writing {path}"):
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(path, page.encode())
    return path


def replay_page(replays: Sequence[dict[str, Any]]) -> str:
    """A page with the replay viewer alone."""
    if not replays:
        raise BadInput("a replay page needs at least one replay")
    return _page("Replay", (), {}, replays)


def _page(
    title: str, sections: Sequence[Section], pictures: Mapping[str, str], replays: Sequence[dict[str, Any]]
) -> str:
    script, numbered = _script(), enumerate(sections, start=1)
    return Template(_asset("page.html")).substitute(
        policy=_policy(script),
        title=escape(title),
        style=_asset("page.css"),
        contents=_contents(sections, bool(replays)) if sections else "",
        viewer=_viewer(replays) if replays else "",
        sections="\n".join(_section(number, section, pictures) for number, section in numbered),
        script=script,
    )


def _asset(name: str) -> str:
    return (files("pc3d.report") / "page_assets" / name).read_text(encoding="utf-8")


def _script() -> str:
    """All scripts as one, in a scope of their own."""
    parts = "\n".join(_asset(name) for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _policy(script: str) -> str:
    """What the browser may do for this page: run this very script and show what is inside the file."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def _contents(sections: Sequence[Section], has_viewer: bool) -> str:
    links = [("viewer", "Replays")] if has_viewer else []
    links += [(f"section-{number}", section.heading) for number, section in enumerate(sections, start=1)]
    items = "".join(f'<li><a href="#{name}">{escape(heading)}</a></li>' for name, heading in links)
    return f'<nav aria-label="Contents"><ul>{items}</ul></nav>'


def _section(number: int, section: Section, pictures: Mapping[str, str]) -> str:
    paragraphs = [f"<p>{escape(part.strip())}</p>" for part in section.text.split("\n\n") if part.strip()]
    figures = [_figure(figure, pictures[figure.name]) for figure in section.figures]
    parts = [*paragraphs, *map(_table, section.tables), *figures]
    name = f"section-{number}"
    heading = f'<h2 id="{name}">{escape(section.heading)}</h2>'
    return f'<section aria-labelledby="{name}">\n{heading}\n' + "\n".join(parts) + "\n</section>"


def _table(table: Table) -> str:
    """Scrolls by itself where it is wider than the page; the tab stop lets a keyboard scroll it."""
    caption = escape(f"{table.title}. {table.caption}")
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in table.columns)
    rows = "\n".join(f"<tr>{_row(row)}</tr>" for row in table.rows)
    return (
        f'<figure><figcaption>{caption}</figcaption><div class="wide" tabindex="0">\n'
        f'<table aria-label="{caption}">\n<thead>{_groups(table)}<tr>{head}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div></figure>"
    )


def _groups(table: Table) -> str:
    if not table.groups:
        return ""
    spans = "".join(
        f'<th scope="colgroup" colspan="{width}">{escape(name)}</th>' for name, width in table.groups
    )
    return f"<tr><td></td>{spans}</tr>"


def _row(row: tuple[Cell, ...]) -> str:
    first, *others = row
    return f'<th scope="row">{_cell(first)}</th>' + "".join(f"<td>{_cell(cell)}</td>" for cell in others)


def _cell(cell: Cell) -> str:
    text = escape(cell.text)
    note = f"<small>{escape(cell.note)}</small>" if cell.note else ""
    return (f"<strong>{text}</strong>" if cell.best else text) + note


def _figure(figure: Figure, svg: str) -> str:
    """As an image, in which no script runs and whose names cannot meet those of another figure."""
    caption = escape(f"{figure.title}. {figure.caption}")
    address = "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
    return f'<figure><img src="{address}" alt="{caption}"><figcaption>{caption}</figcaption></figure>'


def _viewer(replays: Sequence[dict[str, Any]]) -> str:
    """The viewer's controls, the list of replays, and each replay packed until it is looked at."""
    entries = _index(replays)
    packed = "\n".join(
        f'<script type="text/plain" id="replay-{number}">{_packed(replay)}</script>'
        for number, replay in enumerate(replays)
    )
    return Template(_asset("viewer.html")).substitute(index=_inert_json(entries), replays=packed)


def _index(replays: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What there is to choose from, in the paper's order; `number` says which replay is meant."""
    entries = [{"number": number, **_index_entry(replay)} for number, replay in enumerate(replays)]
    tasks = tasks_in_order({entry["task"] for entry in entries})
    methods = methods_in_order({entry["method"] for entry in entries})
    return sorted(entries, key=lambda entry: (tasks.index(entry["task"]), methods.index(entry["method"])))


def _index_entry(replay: dict[str, Any]) -> dict[str, Any]:
    if replay.get("format") != REPLAY_FORMAT:
        raise BadInput(f"a replay is of format {replay.get('format')!r}; this version shows {REPLAY_FORMAT}")
    missing = [name for name in (*INDEX_FIELDS, "reward", "world") if name not in replay]
    if missing:
        raise BadInput(f"a replay lacks {', '.join(missing)}")
    return {name: replay[name] for name in INDEX_FIELDS} | {"title": method_title(replay["method"])}


def _packed(replay: dict[str, Any]) -> str:
    """Compressed about tenfold; the fixed time makes equal replays equal bytes."""
    return base64.b64encode(gzip.compress(_json(replay).encode(), mtime=0)).decode()


def _inert_json(data: Any) -> str:
    """JSON that cannot end the script element it stands in, whatever its strings hold."""
    text = _json(data)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _json(data: Any) -> str:
    try:
        return json.dumps(data, separators=(",", ":"), allow_nan=False)
    except ValueError:
        raise BadInput("a replay holds a number that is not finite") from None
