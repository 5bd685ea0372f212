"""The results in the pages are those of the recorded runs: nobody typed them, nothing is out of date."""

import runpy

import pytest

from pc3d.cli import main
from pc3d.presets.paper import ROSTERS
from tests.docs.pages import ROOT

RESULTS = ROOT / "results"
fill = runpy.run_path(str(ROOT / "docs" / "fill.py"))


WHOLE = {"main", "ablation", "hyper", "claims", "collisions", "wall-clock"}
BY_TASK = (
    "differences",
    "sizes",
    "statistics",
    "training",
    "recovery",
    "gate",
    "originals",
    "trials-mappo",
    "trials-pc3d",
)


@pytest.mark.parametrize("page", fill["PAGES"], ids=lambda page: page.name)
def test_a_page_asks_for_tables_that_a_report_can_have(page):
    known = WHOLE | {f"{kind}-{task}" for kind in BY_TASK for task in ROSTERS}
    assert {match.group(1) for match in fill["SLOT"].finditer(page.read_text())} <= known


@pytest.mark.parametrize("page", fill["PAGES"], ids=lambda page: page.name)
def test_a_page_has_the_tables_of_the_report(page):
    text = page.read_text()
    assert fill["SLOT"].search(text)
    assert fill["filled"](text) == text, "run make results"


def test_the_report_is_that_of_the_recorded_runs(tmp_path):
    assert main(["report", str(RESULTS), "--out", str(tmp_path)]) == 0
    made, kept = (
        {table.name: table.read_text() for table in (folder / "tables").glob("*.md")}
        for folder in (tmp_path, RESULTS / "report")
    )
    assert made == kept, "run make results"
