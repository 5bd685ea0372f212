"""The web page as text: well-formed, complete, and deaf to whatever names may hold."""

import base64
import gzip
import json
import re
import time
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure as Drawing

from pc3d.report.figures.style import Figure
from pc3d.report.page.page import replay_page, report_page
from pc3d.report.sections import Section
from pc3d.report.tables.table import Cell, Table, latex, markdown
from pc3d.system.errors import BadInput
from pc3d.tasks.registry import TASKS

HOSTILE = """</script><script>alert(1)</script>"'><img src=x onerror=alert(2)>&amp;$script\u2028"""
VOID = {"meta", "link", "input", "img", "source", "br"}
TINY_REPLAY: dict[str, Any] = {
    "format": 1,
    "task": "spread",
    "method": "mappo",
    "seed": 0,
    "team_size": 1,
    "split": "train",
    "rollout": 0,
    "return": -0.5,
    "reward": [-0.5],
    "gate": None,
    "alignment": None,
    "world": {"landmarks": [[0, 0]], "positions": [[[100, 0]], [[50, 0]]]},
}
SECTION = Section(
    heading="Main results",
    text="One paragraph.\n\nAnother.",
    tables=(
        Table(
            name="main",
            title="Returns",
            caption="Higher is better.",
            columns=("Method", "Train", "Test"),
            rows=((Cell("MAPPO"), Cell("−42.0"), Cell("−80.1", best=True, note="paper −79.2")),),
            groups=(("Spread", 2),),
        ),
    ),
    figures=(Figure("curves", "Curves", "Of all seeds.", Drawing()),),
)


def write_page(folder, **page):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "index.html"
    path.write_text(report_page(**page))
    return path


class Reader(HTMLParser):
    """Collects elements and texts, and insists that what is opened is closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID and not (self.get_starttag_text() or "").endswith("/>"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip() and self.open:
            self.texts.append((self.open[-1], data))

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)


PICTURES = {
    "curves": '<svg xmlns="http://www.w3.org/2000/svg"/>',
    "hostile": f"<svg>{HOSTILE}</svg>",
}


def hostile_section() -> Section:
    rows = ((Cell(HOSTILE), Cell(HOSTILE, note=HOSTILE)),)
    table = Table("main", HOSTILE, HOSTILE, (HOSTILE, HOSTILE), rows, ((HOSTILE, 1),))
    return Section(HOSTILE, HOSTILE, (table,), (Figure("hostile", HOSTILE, HOSTILE, Drawing()),))


def page_text(tmp_path, section=SECTION, replay=TINY_REPLAY, title="Report") -> str:
    folder = tmp_path / "report"
    path = write_page(folder, title=title, sections=[section], pictures=PICTURES, replays=[replay])
    return path.read_text("utf-8")


def test_the_page_is_well_formed_and_holds_tables_figures_and_viewer(tmp_path):
    page = Reader(page_text(tmp_path))
    texts = [text for _, text in page.texts]
    for expected in (
        "Report",
        "One paragraph.",
        "Another.",
        "Returns",
        "Higher is better.",
        "−42.0",
        "paper −79.2",
    ):
        assert expected in texts
    assert ("strong", "−80.1") in page.texts
    assert page.count("table") == page.count("img") == 1
    assert "viewer" in [attributes.get("id") for _, attributes in page.elements]


def test_words_in_a_column_may_break_their_lines_and_numbers_may_not():
    rows = ((Cell("a"), Cell("own history, and a message of each teammate in sight"), Cell("1.00")),)
    table = Table(
        "needs", "Needs", "", ("Method", "needs", "return"), (*rows, (Cell("b"), Cell("–"), Cell("2")))
    )
    page = report_page("x", [replace(SECTION, tables=(table,), figures=())], {}, [])
    cells = re.findall(r"<td[^>]*>", page)
    assert cells == [word for _ in range(2) for word in ('<td class="words">', "<td>")]
    assert markdown(table).splitlines()[1] == "| :--- | :--- | ---: |"
    assert r"{@{}lp{0.25\linewidth}r@{}}" in latex(table)


def test_ids_are_unique(tmp_path):
    ids = [attributes["id"] for _, attributes in Reader(page_text(tmp_path)).elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_nothing_on_the_page_points_outside_of_it(tmp_path):
    for _, attributes in Reader(page_text(tmp_path)).elements:
        for name in ("src", "href", "srcset"):
            assert (attributes.get(name) or "#").startswith(("#", "data:"))


def test_hostile_texts_stay_texts(tmp_path):
    tame = Reader(page_text(tmp_path))
    hostile_replay = TINY_REPLAY | {"method": HOSTILE, "split": HOSTILE}
    page = Reader(page_text(tmp_path, hostile_section(), hostile_replay, HOSTILE))
    assert page.count("script") == tame.count("script")
    assert page.count("img") == 1
    assert ("h1", HOSTILE) in page.texts
    assert all("onerror" not in attributes for _, attributes in page.elements)


def test_a_hostile_method_name_survives_the_index_unchanged(tmp_path):
    page = Reader(page_text(tmp_path, replay=TINY_REPLAY | {"method": HOSTILE}))
    index = next(text for tag, text in page.texts if tag == "script" and text.startswith("["))
    assert json.loads(index)[0]["method"] == HOSTILE
    assert "<" not in index


def test_the_policy_admits_our_script_only(tmp_path):
    page = page_text(tmp_path)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; img-src data:")
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]{44}'$", policy[1])


def test_replays_come_back_from_the_page_as_they_went_in():
    packed = re.search(r'id="replay-0">([^<]*)<', replay_page([TINY_REPLAY]))
    assert packed is not None
    assert json.loads(gzip.decompress(base64.b64decode(packed[1]))) == TINY_REPLAY


def test_every_task_with_replays_is_drawn_by_its_own_script():
    page = replay_page([TINY_REPLAY])
    for name, entry in TASKS.items():
        assert bool(entry.replay) == bool(entry.viewer)
        assert (f"\nTASKS.{name} = {{" in page) == bool(entry.viewer)


def test_a_new_tasks_script_comes_onto_the_page_by_its_entry_alone(tmp_path, monkeypatch):
    package = tmp_path / "hide_and_seek"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "replay.js").write_text("TASKS.hide = {};\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(TASKS, "hide", replace(TASKS["spread"], viewer="hide_and_seek"))
    page = replay_page([TINY_REPLAY])
    assert page.index("const TASKS") < page.index("TASKS.hide = {};") < page.index("Object.hasOwn(TASKS")


def test_methods_are_offered_in_the_papers_order():
    page = Reader(replay_page([TINY_REPLAY | {"method": method} for method in ("zebra", "pc3d", "ippo")]))
    index = json.loads(next(text for tag, text in page.texts if tag == "script" and text.startswith("[")))
    assert [(entry["method"], entry["number"]) for entry in index] == [("ippo", 2), ("pc3d", 1), ("zebra", 0)]


def test_equal_reports_give_equal_bytes_at_any_time(tmp_path, monkeypatch):
    now = page_text(tmp_path / "one")
    monkeypatch.setattr(time, "time", lambda: 4e9)
    assert page_text(tmp_path / "other") == now


def test_figures_are_images_with_their_caption_as_the_words_for_them(tmp_path):
    page = Reader(page_text(tmp_path))
    (image,) = (attributes for tag, attributes in page.elements if tag == "img")
    assert image["alt"] == "Curves. Of all seeds."
    svg = base64.b64decode(str(image["src"]).removeprefix("data:image/svg+xml;base64,"))
    assert ElementTree.fromstring(svg).tag.endswith("svg")


def test_a_report_without_replays_has_no_viewer(tmp_path):
    plain = replace(SECTION, figures=(), tables=())
    path = write_page(tmp_path, title="Report", sections=[plain], pictures={}, replays=[])
    page = Reader(path.read_text("utf-8"))
    assert "viewer" not in [attributes.get("id") for _, attributes in page.elements]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": 2}, "format 2; this version shows 1"),
        ({"return": float("nan")}, "not finite"),
    ],
)
def test_replays_that_cannot_be_shown_are_refused(change, sentence):
    with pytest.raises(BadInput, match=sentence):
        replay_page([TINY_REPLAY | change])


def test_a_replay_that_lacks_its_world_is_refused():
    with pytest.raises(BadInput, match="a replay lacks world"):
        replay_page([{name: value for name, value in TINY_REPLAY.items() if name != "world"}])


def test_a_replay_page_without_replays_is_refused():
    with pytest.raises(BadInput, match="at least one replay"):
        replay_page([])


def test_the_controls_stick_within_what_they_play_alone():
    """In a browser: see test_the_controls_cover_nothing_before_one_gets_to_the_teams."""
    page = replay_page([TINY_REPLAY])
    marks = ("viewer-heading", 'id="usual"', 'class="watching"', 'class="stages"', 'class="transport"')
    places = [page.index(mark, page.index("<main>")) for mark in marks]
    assert places == sorted(places)
