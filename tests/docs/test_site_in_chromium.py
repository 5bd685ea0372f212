"""The site in a real browser: its search answers from a folder, without a server, and it fits a phone."""

import os
import subprocess
import sys

import pytest

from tests.docs.pages import ROOT
from tests.report.page.browser import chromium, chromium_is_installed

PHONE = 375
pytestmark = [
    pytest.mark.page,
    pytest.mark.skipif(not chromium_is_installed(), reason="this needs the packages of make test-page"),
]
TYPE = """
const field = document.querySelector("[data-md-component=search-query]");
document.querySelector("#__search").click();
field.focus();
field.value = arguments[0];
field.dispatchEvent(new Event("keyup", {bubbles: true}));
field.dispatchEvent(new Event("input", {bubbles: true}));
"""


@pytest.fixture(scope="module")
def front_page(tmp_path_factory):
    site = tmp_path_factory.mktemp("docs") / "site"
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, check=True)
    return site / "index.html"


def test_the_search_finds_pages_without_a_server(front_page, tmp_path):
    with chromium(tmp_path / "profile") as browser:
        browser.open(front_page)
        browser.run(TYPE, "curriculum")
        browser.wait_for("document.querySelector('.md-search-result__item a[href*=\"training.html\"]')", 20)
        assert all(address.startswith(("file:", "data:", "about:")) for address in browser.requested())


def test_films_can_be_seen_on_a_phone_and_the_page_is_no_wider_than_it(front_page, tmp_path):
    with chromium(tmp_path / "profile") as browser:
        browser.emulate(PHONE, 800)
        browser.open(front_page)
        films = "[...document.querySelectorAll('article img[src$=\".gif\"]')]"
        widths = browser.run(f"return {films}.map(film => film.clientWidth)")
        assert len(widths) >= 4
        assert all(PHONE / 2 < width <= PHONE for width in widths)
        assert browser.run("return document.documentElement.scrollWidth") == PHONE
