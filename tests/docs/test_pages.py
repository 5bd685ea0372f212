"""The pages keep their word: links lead somewhere, commands parse, names exist, shown code is what runs."""

import ast
import os
import re
import shlex
import subprocess
import sys
from functools import reduce
from importlib import import_module

import pytest

from pc3d.cli import COMMANDS, parsed
from tests.docs.pages import FENCE, PAGES, PLACEHOLDER, ROOT, blocks, commands

LINK = re.compile(r"\]\(([^)\s]+)\)")
NAME = re.compile(r"`(pc3d(?:\.\w+)+)`")
LINKED_NAME = re.compile(r"\[`(pc3d(?:\.\w+)+)`\]\(\.\./src/([\w/]+)\.py\)")


def owner_and_rest(name: str) -> tuple[str, list[str]]:
    """The longest part of a dotted name that is a module, and what remains."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        place = ROOT.joinpath("src", *parts[:length])
        if place.with_suffix(".py").exists() or place.is_dir():
            return ".".join(parts[:length]), parts[length:]
    raise AssertionError(f"there is no {name}")


def test_there_is_a_page_for_method_tasks_training_and_extending():
    names = {page.stem for page in PAGES}
    assert {"README", "method", "tasks", "training", "extending"} <= names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_relative_link_leads_to_a_file(page):
    prose = FENCE.sub("", page.read_text())
    targets = [target.partition("#")[0] for target in LINK.findall(prose)]
    local = [target for target in targets if target and not re.match(r"\w+:", target)]
    assert [target for target in local if not (page.parent / target).exists()] == []


@pytest.mark.parametrize(
    ("page", "line"), [(page.name, line) for page in PAGES for line in commands(page)], ids=str
)
def test_every_command_line_parses(page, line):
    name, *words = shlex.split(line, comments=True)
    if name == "--with":  # a module of the reader's own, whose names nobody knows here
        assert words[1] in COMMANDS
        return
    assert name in COMMANDS or name == "--help"
    if name == "--help" or PLACEHOLDER.search(line):
        return
    module = import_module(f"pc3d.cli.{name}")
    if not hasattr(module, "parse") and not hasattr(module, "Command"):  # it has nothing to choose
        assert set(words) <= {"--help"}
        return
    parse = getattr(module, "parse", lambda words: parsed(module.Command, name, words))
    if "--help" in words:
        with pytest.raises(SystemExit) as stop:
            parse(words)
        assert stop.value.code == 0
    else:
        assert parse(words) is not None


def test_some_command_lines_were_found():
    assert len([line for page in PAGES for line in commands(page)]) >= 10


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_code_name_exists(page):
    for name in NAME.findall(page.read_text()):
        module, rest = owner_and_rest(name)
        reduce(getattr, rest, import_module(module))


def test_the_names_beside_equations_link_to_the_files_that_define_them():
    text = (ROOT / "docs" / "method.md").read_text()
    found = LINKED_NAME.findall(text)
    assert len(found) >= 20
    for name, file in found:
        module, rest = owner_and_rest(name)
        assert module == file.replace("/", ".")
        assert reduce(getattr, rest, import_module(module)).__module__ == module


@pytest.mark.parametrize("number", range(1, 8))
def test_every_numbered_equation_of_the_paper_has_a_row(number):
    rows = re.findall(rf"^\| {number} \|.*\|$", (ROOT / "docs" / "method.md").read_text(), re.MULTILINE)
    assert rows
    assert all(NAME.search(row) for row in rows)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_python_block_imports_what_exists(page):
    for code in blocks(page, "python"):
        imports = [line for line in ast.parse(code).body if isinstance(line, ast.Import | ast.ImportFrom)]
        exec(compile(ast.Module(imports, []), page.name, "exec"), {})


def test_the_python_blocks_of_the_tasks_page_run():
    shown = blocks(ROOT / "docs" / "tasks.md", "python")
    assert len(shown) >= 2
    for code in shown:
        exec(compile(code, "tasks.md", "exec"), {})


def test_the_code_of_the_extending_page_is_that_of_the_examples():
    examples = [path.read_text() for path in (ROOT / "examples").glob("new_*.py")]
    shown = blocks(ROOT / "docs" / "extending.md", "python")
    assert len(shown) >= 6
    for code in shown:
        assert any(code in example for example in examples), f"not in an example:\n{code}"


def test_the_site_is_built_without_a_warning(tmp_path):
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    result = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    home = (tmp_path / "index.html").read_text()
    assert 'href="method.html"' in home
    assert not re.search(r'<(?:script|link|img)[^>]*(?:src|href)="https?:', home)  # nothing from elsewhere
