"""Folders import only from those before them in the flow, lazy imports included; and no circles."""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "pc3d"
FLOW = (
    *("system", "experiment", "tasks", "presets", "networks", "play", "learners"),
    *("runs", "evaluation", "export", "report", "benchmark", "jobs", "cli"),
)
FRONT_DOOR = ("__init__", "__main__")  # sees everything, and nobody but a user sees it


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name; a folder's own file goes by the folder's name."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)] = path
    return found


def imported(path: Path, known: set[str], *, only_statements: bool = False) -> Iterator[str]:
    """The package's own modules that a file imports, wherever in it: in functions and in tables, too."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = (
        {id(node) for block in _type_blocks(tree) for node in ast.walk(block)} if only_statements else ()
    )
    for node in ast.walk(tree):
        if id(node) in skipped or (only_statements and isinstance(node, ast.Constant)):
            continue
        yield from (module for name in _names(node) if (module := _module(name, known)))


def _module(name: str, known: set[str]) -> str:
    """The module that a dotted name lies in."""
    return name if name in known or not name else _module(name.rpartition(".")[0], known)


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pc3d"):
        base = (node.module or "").removeprefix("pc3d").lstrip(".")
        yield from (f"{base}.{alias.name}".lstrip(".") for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from (a.name.removeprefix("pc3d.") for a in node.names if a.name.startswith("pc3d."))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("pc3d."):
        yield node.value.removeprefix("pc3d.")


def _type_blocks(tree: ast.AST) -> Iterator[ast.If]:
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield node


def test_every_folder_is_part_of_the_flow():
    assert {name.partition(".")[0] for name in modules()} == {*FLOW, *FRONT_DOOR}


def test_folders_import_only_from_those_before_them():
    known = modules()
    wrong = [
        f"{name} imports {other}"
        for name, path in known.items()
        if name not in FRONT_DOOR
        for other in imported(path, set(known))
        if other not in FRONT_DOOR
        and FLOW.index(other.partition(".")[0]) > FLOW.index(name.partition(".")[0])
    ]
    assert not wrong


def test_no_modules_import_each_other_in_a_circle():
    known = modules()
    graph = {
        name: set(imported(path, set(known), only_statements=True)) - {name} for name, path in known.items()
    }
    order: list[str] = []
    while free := [name for name in graph if name not in order and graph[name] <= set(order)]:
        order += free
    assert not set(graph) - set(order)


def test_the_look_at_imports_sees_lazy_ones_and_tables(tmp_path):
    file = tmp_path / "module.py"
    file.write_text("def f():\n    from pc3d.runs.train import train\nPART = 'pc3d.tasks.spread.world'\n")
    assert set(imported(file, {"runs.train", "tasks.spread.world"})) == {"runs.train", "tasks.spread.world"}
