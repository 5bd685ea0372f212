"""The web page: tables, figures and a replay viewer in one file that needs neither network nor server.

All text is escaped on its way in, and the page's own policy lets nothing run but our script and nothing load.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from pc3d.report.names import method_title, methods_in_order, tasks_in_order
from pc3d.system.errors import BadInput
from pc3d.tasks.registry import TASKS

if TYPE_CHECKING:  # a page of replays alone is made without loading what draws figures
    from pc3d.report.opening import Opening
    from pc3d.report.sections import Beginning, Section

TEMPLATES = Environment(
    loader=PackageLoader("pc3d.report.page", ""),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
TEMPLATES.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
REPLAY_FORMAT = 1
INDEX_FIELDS = ("task", "method", "seed", "team_size", "split", "rollout", "return")
# Scripts in the order they run: each uses only what stands before it; the tasks' own come in between.
BEFORE_TASKS = ("palette", "pen", "agents")
AFTER_TASKS = (
    "replays",
    "player",
    "chart",
    "elements",
    "focus",
    "attention",
    "presence",
    "stage",
    "viewer",
    "folds",
)


def replay_page(replays: Sequence[dict[str, Any]]) -> str:
    """A page with the replay viewer alone."""
    if not replays:
        raise BadInput("a replay page needs at least one replay")
    return report_page("Replay", (), {}, replays)


def report_page(
    title: str,
    sections: Sequence[Section],
    pictures: Mapping[str, str],
    replays: Sequence[dict[str, Any]],
    *,
    beginning: Beginning | None = None,
    opening: Opening | None = None,
) -> str:
    """The page of a report; pictures are SVGs by figure name, `opening` says which replay is shown first."""
    script, template = _script(), TEMPLATES.get_template("page.html")
    return template.render(
        digest=_base64(hashlib.sha256(script.encode()).digest()),
        title=title,
        style=_asset("page.css"),
        beginning=beginning,
        sections=sections,
        pictures={name: _base64(svg.encode()) for name, svg in pictures.items()},
        index=_index(replays),
        opening=asdict(opening) if opening else {},
        replays=[_packed(replay) for replay in replays],
        script=script,
    )


def check_replay(replay: dict[str, Any]) -> None:
    """Refuse what no page could show."""
    _index_entry(replay)
    _as_text(replay)


def _asset(name: str, package: str = "pc3d.report.page") -> str:
    return (files(package) / name).read_text(encoding="utf-8")


def _script() -> str:
    """All scripts as one, in a scope of their own."""
    before, after = ([_asset(f"{name}.js") for name in names] for names in (BEFORE_TASKS, AFTER_TASKS))
    tasks = [_asset("replay.js", entry.viewer) for entry in TASKS.values() if entry.viewer]
    parts = "\n".join(before + tasks + after)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


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
    usual = {"usual": replay["usual"]} if "usual" in replay else {}
    return {name: replay[name] for name in INDEX_FIELDS} | {"title": method_title(replay["method"])} | usual


def _packed(replay: dict[str, Any]) -> str:
    """Compressed about tenfold; the fixed time makes equal replays equal bytes."""
    return _base64(gzip.compress(_as_text(replay).encode(), mtime=0))


def _as_text(replay: dict[str, Any]) -> str:
    try:
        return json.dumps(replay, separators=(",", ":"), allow_nan=False)
    except ValueError:
        raise BadInput("a replay holds a number that is not finite") from None


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
