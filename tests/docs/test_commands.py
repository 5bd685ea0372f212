"""Every command line and every program on the pages runs, in the order of its page, only shorter.

What follows a command in SMALL is added to its words, where a later option replaces an earlier one: fewer
episodes, rollouts and trials, smaller networks. Nothing else differs from what a reader types.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from importlib.metadata import metadata
from pathlib import Path

import pytest

from pc3d.cli import main
from pc3d.cli.extensions import OPTION, TOLD
from pc3d.experiment.methods import METHODS
from pc3d.networks.critics import CRITICS
from pc3d.tasks.registry import TASKS
from tests.docs.pages import PAGES, PLACEHOLDER, ROOT, blocks, shell_lines
from tests.jobs.cluster.loopback_cluster import processes_with, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

TINY = [
    *("--episodes", "64", "--actor.widths", "8", "--actor.rnn-dim", "6"),
    *("--critic.widths", "8", "--critic.set-encoder-widths", "8", "--tensorboard", "False"),
]
SMALL = {
    "train": TINY,
    "evaluate": ["--rollouts", "2", "--context-rollouts", "1"],
    "tune": ["--trials", "2", "--episodes", "64", "--rollouts", "2", "--workers", "1"],
    "parity": ["--episodes", "1", "--team-sizes", "2"],
    "benchmark": shlex.split("--task spread --methods mappo --team-sizes 2 --repeats 1 --seconds 0.01"),
    "export": ["--rollouts", "2"],
    "check": ["--team-sizes", "2,8"],
}
STUDY = f"""
about = "What a page calls a study."
rollouts = 2

[[groups]]
tasks = ["spread"]
methods = ["pc3d"]
seeds = [0]
options = {json.dumps(TINY)}
"""
OWN_STUDY = STUDY.replace("spread", "pursuit:make").replace(
    "options = [", 'options = ["--rosters rosters.toml", '
)
SMALL_STUDY = STUDY.replace("spread", "small_foraging:SmallForaging").replace(
    "options = [", 'options = ["--train-sizes 2", '
)
STUDIES_OF_OWN_TASKS = {"pursuit:make": "tiny_own.toml", "small_foraging:SmallForaging": "tiny_small.toml"}
OWN_TASK = {
    "my_package/my_task.py": ("examples/new_task.py", "examples/own_task/pursuit.py"),
    "my_package/my_methods.py": ("examples/new_method.py",),
    "pursuit.py": ("examples/own_task/pursuit.py",),
    "small_foraging.py": ("examples/published/small_foraging.py",),
    "continuous_spread.py": ("examples/own_task/continuous_spread.py",),
    "shifts.py": ("examples/own_task/shifts.py",),
    "rosters.toml": ("examples/own_task/rosters.toml",),
}
ON_THIS_MACHINE = {
    "10.0.0.1": "127.0.0.2",
    "10.0.0.2": "127.0.0.3",
    "6379": "6399",
    "study paper": "study tiny.toml",
}
RUNNING = [page for page in PAGES if shell_lines(page) and page.stem != "clusters"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """What most pages begin with, made once."""
    folder = tmp_path_factory.mktemp("trained")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run("pc3d train spread pc3d")
        run("pc3d evaluate runs/spread/pc3d")
    return folder / "runs"


@pytest.fixture
def desk(trained, tmp_path, monkeypatch):
    """The folder of a reader: a trained run, the repository's examples, a task of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(TOLD, "")
    shutil.copytree(trained, "runs")
    Path("examples").symlink_to(ROOT / "examples")
    Path("tiny.toml").write_text(STUDY)
    Path("tiny_own.toml").write_text(OWN_STUDY)
    Path("tiny_small.toml").write_text(SMALL_STUDY)
    for name, sources in OWN_TASK.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("\n".join(_definitions(ROOT / source) for source in sources))
    tables = (TASKS, METHODS, CRITICS)
    before = [dict(table) for table in tables]
    yield tmp_path
    for table, known in zip(tables, before, strict=True):  # a page's commands run in this process
        table.clear()
        table.update(known)


def _definitions(path: Path) -> str:
    """An example without its last part, which trains what the parts before define."""
    return re.split(r'\nTASKS\["meeting"\]|\nif __name__', path.read_text())[0]


def is_form(line: str) -> bool:
    """Whether a line only shows what a command looks like."""
    return bool(PLACEHOLDER.search(line))


def run(line: str) -> None:
    """One line of a page, with success."""
    program, *words = shlex.split(line)
    name = Path(program).name
    if name == "pc3d":
        run_pc3d(words)
    elif name == "make":
        assert re.search(rf"^{words[0]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    elif name == "pip":
        (extra,) = re.findall(r"\.\[(\w+)\]", line)  # from a checkout: nothing is on a registry yet
        assert extra in metadata("pc3d").get_all("Provides-Extra")
    elif name == "python":
        shorter = [*words, "--episodes", "1"] if "--episodes" in words else words
        subprocess.run([sys.executable, *shorter], check=True, timeout=300)
    else:
        raise AssertionError(f"nobody knows how to run {line!r}")


def run_pc3d(words: list[str]) -> None:
    added = words[:2] if words[0] == OPTION else []
    name, *rest = words[len(added) :]
    if name == "study":
        own = rest[rest.index("--task") + 1] if "--task" in rest else ""
        file = STUDIES_OF_OWN_TASKS.get(own, "tiny.toml")
        rest = [file, "--folder", f"runs/studies/{rest[0]}", *rest[1:]]
    more = [] if {"--help", "--show-space"} & set(rest) else SMALL.get(name, [])
    if "--int8" in rest:
        more = [*more, "--accept-loss"]  # a policy that has learned nothing loses at random
    try:
        code = main([*added, name, *rest, *more])
    except SystemExit as end:
        code = end.code
    assert code == 0, shlex.join(words)


@pytest.mark.parametrize("page", RUNNING, ids=lambda page: page.name)
@pytest.mark.usefixtures("desk")
def test_every_command_line_runs(page):
    for line in shell_lines(page):
        if not is_form(line):
            run(line)


@pytest.mark.parametrize("name", ["README", "training", "deploying", "tasks"])
@pytest.mark.usefixtures("desk")
def test_every_program_runs(name):
    run("pc3d export runs/spread/pc3d/seed-0 policy.onnx")
    (page,) = [page for page in PAGES if page.stem == name]
    for program in blocks(page, "python"):
        shorter = re.sub(r"paper\((.*?)(, episodes=\d+)?\)", r"paper(\1, episodes=64)", program)
        subprocess.run([sys.executable, "-W", "error", "-c", shorter], check=True, timeout=300)


@pytest.mark.usefixtures("desk")
def test_the_preset_on_the_tuning_page_is_taken():
    (shown,) = blocks(ROOT / "docs" / "tuning.md", "toml")
    Path("mine.toml").write_text(shown)
    run("pc3d train spread mappo --preset mine.toml")


def test_the_clusters_page_starts_a_cluster_and_a_study_on_it():
    lines = [line for line in shell_lines(ROOT / "docs" / "clusters.md") if not is_form(line)]
    script = "\n".join(["set -e", *(line for line in lines if "pytest" not in line)])
    for printed, used in ON_THIS_MACHINE.items():
        assert printed in script
        script = script.replace(printed, used)
    folder = Path(tempfile.mkdtemp(prefix="pc3d-"))  # Ray's sockets need a short path
    (folder / ".venv").symlink_to(ROOT / ".venv")
    (folder / "tiny.toml").write_text(STUDY)
    places = dict.fromkeys(("HOME", "TMPDIR", "RAY_TMPDIR"), str(folder))
    try:
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=folder,
            env={**os.environ, **places},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert list(folder.glob("runs/studies/**/scores.csv"))
    finally:  # not with `ray stop`, which would also end the clusters of others
        for process in processes_with(str(folder)):
            os.kill(process, signal.SIGKILL)
        wait_until(lambda: not processes_with(str(folder)), 30)
        shutil.rmtree(folder, ignore_errors=True)
