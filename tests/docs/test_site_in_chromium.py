"""The documentation's site opened from a folder: its search answers without a server."""

import os
import subprocess
import sys

import pytest

from tests.docs.pages import ROOT
from tests.report.page.browser import chromium, chromium_is_installed

pytestmark = [
    pytest.mark.page,
    pytest.mark.skipif(not chromium_is_installed(), reason="the site's test needs chromium and chromedriver"),
]
TYPE = """
const field = document.querySelector("[data-md-component=search-query]");
document.querySelector("#__search").click();
field.focus();
field.value = arguments[0];
field.dispatchEvent(new Event("keyup", {bubbles: true}));
field.dispatchEvent(new Event("input", {bubbles: true}));
"""


def test_the_search_finds_pages_without_a_server(tmp_path):
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, check=True)
    with chromium(tmp_path / "profile") as browser:
        browser.open(tmp_path / "site" / "index.html")
        browser.run(TYPE, "curriculum")
        browser.wait_for("document.querySelector('.md-search-result__item a[href*=\"training.html\"]')", 20)
        assert all(address.startswith(("file:", "data:", "about:")) for address in browser.requested())
