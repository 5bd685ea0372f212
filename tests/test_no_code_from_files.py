"""No file that is read reaches pickle, eval or an import: by looking at the code, and by watching it read."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pc3d.experiment.world import OwnWorld, Rules
from pc3d.jobs.tuning.trial_folder import TrialFolder
from pc3d.presets.experiment_file import to_plain
from pc3d.presets.paper import sealed
from pc3d.presets.preset_file import Preset, write_preset
from pc3d.system.processes import start_worker
from tests.faults.folders import experiment_for, made_run

SOURCE = Path(__file__).parents[1] / "src" / "pc3d"
FORBIDDEN_MODULES = {
    *("pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "dbm"),
    *("yaml", "torch", "runpy", "code", "codeop", "imp", "pkgutil", "multiprocessing", "ray"),
}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}
IMPORTS = {"import_module", "exec_module", "load_module", "spec_from_file_location"}
NUMPY = {"np", "numpy", "jnp"}
# Each has its reason; one that is no longer needed fails the test.
EXCEPTIONS = {
    ("cli/__init__.py", "import_module"): "a command is imported when it is called, from a table in the code",
    ("tasks/entry.py", "import_module"): "a part of a task, imported when it is used, from such a table",
    ("system/imports.py", "import_module"): "an own task, because the user names it on the command line",
    ("system/imports.py", "load_module"): "the same",
    ("cli/extensions.py", "load_module"): "methods and tasks of one's own, because the user names them, too",
    ("system/signals.py", "exec"): "the empty string, which no file can change",
    ("jobs/cluster/cluster.py", "ray"): "Ray carries a study's jobs between machines of one user",
    ("jobs/cluster/connection.py", "ray"): "the same",
    ("jobs/cluster/node.py", "ray"): "the same",
    (
        "benchmark/peers/with_benchmarl.py",
        "torch",
    ): "a peer's own learner, in its own environment; loads no file",
    ("benchmark/peers/with_xuance.py", "torch"): "the same",
}


def forbidden_in(code: ast.AST) -> Iterator[str]:
    """The names in a module that could turn data into code."""
    for node in ast.walk(code):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            yield from _forbidden_use(node)
            continue
        yield from (name.partition(".")[0] for name in names if name.partition(".")[0] in FORBIDDEN_MODULES)


def _forbidden_use(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else _name(node.func)
        constant = len(node.args) == 1 and isinstance(node.args[0], ast.Constant)
        if called in IMPORTS and not constant:
            yield called
        if _name(node.func) in FORBIDDEN_CALLS:
            yield called
        if (
            isinstance(node.func, ast.Attribute)
            and node.func.attr == "load"
            and _name(node.func.value) in NUMPY
        ):
            yield "numpy.load"
        yield from (word.arg for word in node.keywords if word.arg == "allow_pickle")


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def test_no_module_has_the_means_to_run_what_a_file_says():
    found = {
        (path.relative_to(SOURCE).as_posix(), name)
        for path in SOURCE.rglob("*.py")
        for name in forbidden_in(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set(EXCEPTIONS)


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from cloudpickle import loads",
        "def f(x):\n    import marshal",
        "eval(text)",
        "exec(text)",
        "compile(text, '', 'exec')",
        "__import__(name)",
        "import_module(name)",
        "importlib.import_module(name)",
        "import_module('package.' + name)",
        "spec.loader.exec_module(module)",
        "np.load(path)",
        "numpy.load(path, allow_pickle=True)",
        "read(path, allow_pickle=True)",
        "import yaml",
        "import torch",
    ],
)
def test_what_is_looked_for_would_be_found(code):
    assert list(forbidden_in(ast.parse(code)))


@pytest.mark.parametrize("code", ["re.compile('x')", "import_module('json')", "json.load(x)"])
def test_harmless_code_is_left_alone(code):
    assert not list(forbidden_in(ast.parse(code)))


# Runs in a process of its own: an audit hook cannot be taken off again. Imports of our own code and of
# packages happen throughout; none may be for a name that stands in a file, and nothing may be unpickled.
WATCH = """
import json, pickle, sys
sys.path.insert(0, sys.argv[1])
events, names = [], []

def hook(event, arguments):
    if event in ("pickle.find_class", "os.system", "os.exec", "os.posix_spawn"):
        events.append([event, str(arguments)])
    if event == "import":
        names.append(arguments[0])
    if event == "compile" and "snare" in str(arguments[0]):
        events.append([event, str(arguments)])

from pc3d.cli import main
sys.addaudithook(hook)
codes = [main(words) for words in json.loads(sys.argv[2])]
if sys.argv[3:] == ["unpickle"]:  # shows that the hook notices
    pickle.loads(pickle.dumps(main))
print(json.dumps({"codes": codes, "events": events, "snared": [name for name in names if "snare" in name]}),
      file=sys.stderr)
"""


def watched(folder: Path, commands: list[list[str]], *more: str) -> dict:
    words = [sys.executable, "-c", WATCH, str(folder), json.dumps(commands), *more]
    # The compilation cache is pickled by JAX; it is private, a named exception, and off here.
    environment = {**os.environ, "JAX_ENABLE_COMPILATION_CACHE": "false", "JAX_COMPILATION_CACHE_DIR": ""}
    ended = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder, env=environment)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stderr.splitlines()[-1])


def test_reading_runs_presets_and_studies_unpickles_and_imports_nothing_they_say(tmp_path):
    (tmp_path / "snare_of_tests.py").write_text("raise SystemExit('the snare was imported')")
    run = made_run(tmp_path / "runs" / "run", experiment_for("mappo"))
    write_preset(tmp_path / "preset.toml", Preset("spread", "pc3d", {"ppo.epochs": 4}))
    group = 'tasks = ["spread"]\nmethods = ["pc3d"]\nseeds = [0]\npreset = "preset.toml"'
    (tmp_path / "study.toml").write_text(f'about = "snare"\n[[groups]]\n{group}')
    world = OwnWorld("host", 5, (2,), ("stay", "go"), "the sum of rewards")
    own = replace(experiment_for("mappo"), task="snare_of_tests:make", world=world, rules=Rules())
    content = {**json.loads(run.experiment_file.read_text()), "experiment": to_plain(own)}
    del content["sha256"]
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "experiment.json").write_text(json.dumps(content))
    trial = TrialFolder(tmp_path / "trial")
    trial.path.mkdir()
    write_preset(trial.preset, Preset("snare_of_tests:make", "mappo", {}))
    trial.write_own_task(sealed(own))
    commands = {
        "evaluate runs/run --rollouts 1 --team-sizes 2 --replace": 0,
        "report runs --out report": 0,
        "record runs --out results": 0,
        "tune spread pc3d --base preset.toml --show-space": 0,
        "train spread pc3d --preset preset.toml --folder runs/run": 2,  # that folder is another experiment's
        "study study.toml --only lbf": 2,  # no job is left
        "report own --out report-own": 0,
        "tune trial trial --episodes 1 --seeds 1 --rollouts 1": 2,  # whoever started it did not name the task
        "tune snare_of_tests:make mappo --train-sizes 2 --validation-sizes 3 --show-space": 0,
    }
    seen = watched(tmp_path, [words.split() for words in commands])
    assert seen["codes"] == list(commands.values())
    assert seen["events"] == []
    assert seen["snared"] == []


def test_the_watch_notices_what_it_watches_for(tmp_path):
    assert watched(tmp_path, [], "unpickle")["events"][0][0] == "pickle.find_class"


def test_no_file_of_the_current_folder_is_imported_by_a_worker_instead_of_a_package(tmp_path, monkeypatch):
    (tmp_path / "tyro.py").write_text("raise SystemExit('the snare was imported')")
    monkeypatch.chdir(tmp_path)
    assert start_worker(["tasks"], tmp_path / "errors.log").wait() == 0
    assert (tmp_path / "errors.log").read_text() == ""
