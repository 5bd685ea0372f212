"""The lock and the list of licences: hashes for every package, a licence for every package."""

import re
import tomllib

from docs.licences import LOCK, PAGE, licence_of, locked, page
from tests.docs.pages import ROOT

# None of these in what everybody installs; extras may have more.
COPYLEFT = re.compile(r"\b(A?GPL|LGPL|GNU)\b")
MAY_BE_COPYLEFT = {"pygame", "pygame-ce"}


def test_every_locked_package_has_hashes_and_setup_checks_them():
    pieces = re.split(r"^(?=[\w.-]+==)", LOCK.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert len(pieces) == len(locked()) > 50
    for piece in pieces:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", piece), piece
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "--require-hashes --requirement requirements.lock" in makefile
    assert "--generate-hashes" in makefile


def test_every_extra_is_locked_but_those_that_few_use():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (locked_extras,) = re.findall(r"^LOCKED := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {*locked_extras.split(), "wandb", "mlflow", "notebook"} == set(extras)


def test_the_list_of_licences_is_of_the_locked_packages():
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_package_has_a_licence_and_copyleft_is_known():
    for name in locked():
        assert licence_of(name), name
        assert name in MAY_BE_COPYLEFT or not COPYLEFT.search(licence_of(name)), name
