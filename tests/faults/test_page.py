"""The web page with hostile text wherever text can come from: in a real browser, nothing of it runs."""

import json

import pytest

from pc3d.report.sections import Section
from pc3d.report.tables.table import Cell, Table
from tests.report.page.browser import chromium, chromium_is_installed
from tests.report.page.test_page import TINY_REPLAY, write_page

pytestmark = pytest.mark.skipif(
    not chromium_is_installed(),
    reason="the page's tests need a browser: install the Debian packages chromium and chromium-driver",
)
RUN = "window.owned=1"  # what each of them tries to do
HOSTILE = (
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"</title><script>{RUN}</script>",
    f"</style><script>{RUN}</script>",
    f"--><script>{RUN}</script>",
    f"]]><script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f"<svg onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"<details open ontoggle={RUN}>",
    f"<input autofocus onfocus={RUN}>",
    f'" onmouseover="{RUN}" autofocus onfocus="{RUN}',
    f"' onerror='{RUN}",
    f"javascript:{RUN}",
    f"<a href='javascript:{RUN}'>x</a>",
    f"<meta http-equiv=refresh content='0;url=javascript:{RUN}'>",
    f"<base href='javascript:{RUN}//'>",
    f"<template><script>{RUN}</script></template><math><mi xlink:href='javascript:{RUN}'>",
    f"$script ${{script}} {{{{constructor.constructor('{RUN}')()}}}}\u2028{RUN}\u2029",
)


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


def page_with(text, folder):
    """A report in which every name, label, note and caption is that text."""
    table = Table("main", text, text, (text, text), ((Cell(text), Cell(text, note=text)),), ((text, 1),))
    replays = [
        TINY_REPLAY | {"method": text, "split": text},
        TINY_REPLAY | {"task": text, "world": {**TINY_REPLAY["world"], text: text}},
    ]
    return write_page(
        folder, title=text, sections=[Section(text, text, (table,))], pictures={}, replays=replays
    )


def elements(window):
    """How many of the elements that hostile text would add the open page has."""
    return window.run("return document.querySelectorAll('iframe, base, math, details, img').length")


def test_hostile_names_and_labels_run_nothing(window, tmp_path, count, figure):
    window.open(page_with("harmless", tmp_path / "harmless"))
    ours = elements(window)
    chosen = HOSTILE[:: len(HOSTILE) // count(len(HOSTILE), 4)]
    for number, text in enumerate(chosen):
        page = page_with(text, tmp_path / str(number))
        window.console()
        window.requested()
        window.open(page)  # a dialogue would make every command below fail
        window.wait_for("document.getElementById('clock').textContent")
        window.press("tab", "tab", "tab")
        assert window.run("return window.owned") is None, text
        assert window.run("return document.title") == text
        assert window.text("h2#section-1") == text
        assert elements(window) == ours, text
        assert window.console() == []
        own = ("data:", "chrome:")  # what is inside the file, and the browser's own first page
        asked = [address for address in window.requested() if not address.startswith(own)]
        assert asked == [page.as_uri()], text
    figure("the page with hostile names and labels", len(chosen), "nothing executes, nothing is loaded", "")


def test_a_page_without_our_care_would_run_them(window, tmp_path):
    """Otherwise the test above would prove nothing."""
    page = tmp_path / "careless.html"
    page.write_text(f"<title>x</title><p id=clock>{json.dumps(HOSTILE[0])}</p>", encoding="utf-8")
    window.open(page)
    assert window.run("return window.owned") == 1
