"""The site in a real browser, as narrow as a phone."""

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


def test_films_can_be_seen_on_a_phone_and_the_page_is_no_wider_than_it(tmp_path):
    words = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path / "site")]
    subprocess.run(words, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=True)
    with chromium(tmp_path / "profile") as browser:
        browser.emulate(PHONE, 800)
        browser.open(tmp_path / "site" / "index.html")
        films = "[...document.querySelectorAll('article img[src$=\".gif\"]')]"
        widths = browser.run(f"return {films}.map(film => film.clientWidth)")
        assert len(widths) >= 4
        assert all(PHONE / 2 < width <= PHONE for width in widths)
        assert browser.run("return document.documentElement.scrollWidth") == PHONE
