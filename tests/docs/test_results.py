"""The results in the pages are those of the recorded runs: nobody typed them, nothing is out of date."""

import json
import re

import pytest

from docs import fill
from docs.sentences.before import SENTENCES_OF_BEFORE
from docs.sentences.table import SENTENCES, sentences
from pc3d.report.runs import find_runs
from pc3d.report.sections import SECTIONS
from pc3d.report.tables.table import markdown
from pc3d.tasks.registry import papers

WHOLE = {"overview", "collisions", "wall-clock", *fill.OF_METHODS}
BY_TASK = (
    "main",
    "ablation",
    "hyper",
    "claims",
    "differences",
    "sizes",
    "statistics",
    "training",
    "recovery",
    "gate",
    "large",
    "changing",
    "originals",
    "trials-mappo",
    "trials-pc3d",
)

BEFORE = tuple(f"before-{kind}" for kind in ("main", "ablation", "recovery", "gate", "trials-pc3d"))


@pytest.mark.parametrize("page", fill.PAGES, ids=lambda page: page.name)
def test_a_page_asks_for_tables_that_a_report_can_have(page):
    known = WHOLE | {f"{kind}-{task}" for kind in (*BY_TASK, *BEFORE) for task in papers()}
    assert {match.group(1) for match in fill.TABLE.finditer(page.read_text())} <= known


def test_the_pages_ask_for_every_sentence_that_there_is():
    asked = {match.group(1) for page in fill.PAGES for match in fill.SENTENCE.finditer(page.read_text())}
    assert asked == {*SENTENCES, *SENTENCES_OF_BEFORE, "undisturbed-spread", "undisturbed-lbf"}


@pytest.mark.parametrize("page", fill.PAGES, ids=lambda page: page.name)
def test_a_page_has_the_tables_and_sentences_of_the_report(page):
    text = page.read_text()
    assert fill.TABLE.search(text) or fill.SENTENCE.search(text)
    assert fill.filled(text) == text, "run make results"


@pytest.mark.parametrize("page", fill.PAGES, ids=lambda page: page.name)
def test_a_number_or_a_word_typed_by_hand_is_replaced(page):
    text = page.read_text()
    emptied = fill.TABLE.sub(lambda match: f"<!-- table {match[1]} -->\n<!-- end -->", text)
    typed = fill.SENTENCE.sub(lambda match: match[0].replace("-->", "-->0.99 and worse ", 1), emptied)
    assert (emptied != text) == bool(fill.TABLE.search(text))
    assert (typed != emptied) == bool(fill.SENTENCE.search(text))
    assert fill.filled(typed) == text


def test_sentences_fit_into_paragraphs_items_and_cells(monkeypatch):
    """Lines are wrapped, and none begins with a comment, which would make it HTML."""
    name = "undisturbed-lbf"
    slot = f"<!-- sentence {name} -->old<!-- end -->"
    words = "word " * 21
    text = f"{words}it is\n{slot}.\n\n- {words}{slot}\n- next\n\n| a | {slot} |\n"
    filled = fill.filled(text)
    assert filled.count(f"<!-- sentence {name} -->") == 3
    assert "old" not in filled
    assert not re.search(r"^\s*<!--", filled, re.MULTILINE)
    assert f"\n- next\n\n| a | {slot.replace('old', fill._of_speed()[name])} |\n" in filled
    with pytest.raises(ValueError, match="cannot begin"):
        fill.filled(f"- {slot} is so\n")


@pytest.mark.slow  # a minute; tables of made-up runs are in tests/report
def test_the_report_is_that_of_the_recorded_runs():
    runs = find_runs(fill.RECORDED)
    made = {f"{table.name}.md": markdown(table) for make in SECTIONS for table in make(runs).tables}
    kept = {table.name: table.read_text() for table in (fill.REPORT / "tables").glob("*.md")}
    assert made == kept, "run make results"


def test_the_sentences_are_those_of_the_recorded_runs():
    assert sentences(find_runs(fill.RECORDED)) == json.loads(fill.SENTENCES.read_text()), "run make results"
