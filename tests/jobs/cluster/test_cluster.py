"""A study on a real Ray cluster: the same bits as at home, whoever dies in between."""

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest
import ray

from pc3d.cli import main
from pc3d.jobs.cluster import cluster as cluster_module
from pc3d.jobs.cluster import connection, node
from pc3d.jobs.cluster.cluster import cluster_at
from pc3d.jobs.cluster.copying import Changes, Piece
from pc3d.jobs.local import ThisMachine
from pc3d.jobs.loop import State, run_jobs
from pc3d.jobs.study import Job, load_study
from pc3d.runs.metrics import read_lines
from pc3d.system.errors import BadInput
from tests.faults import tiny_runs
from tests.jobs.cluster.loopback_cluster import loopback_cluster, wait_until
from tests.runs.runs import SETTINGS, digests

FILE = """
about = "Tiny runs."
rollouts = 2

[[groups]]
tasks = ["spread"]
methods = {methods}
seeds = [0]
options = ["{options}"]
"""
# The settings of the faults' runs, whose programs are compiled already.
SHORT = (*tiny_runs.SETTINGS, "--checkpoint-every", "4")
# Long enough to be met on its way, with checkpoints to go back to.
LONGER = f"{' '.join(SETTINGS)} --episodes 3200 --checkpoint-every 160"

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning:ray.*")


@pytest.fixture(scope="module")
def loopback():
    with loopback_cluster() as cluster:
        yield cluster


@pytest.fixture
def heard():
    return []


@pytest.fixture
def crew(loopback, heard):
    with cluster_at(loopback.address, heard.append) as crew:
        yield crew


def write_study(folder: Path, methods: list[str], options: str) -> Path:
    path = folder / "tiny.toml"
    path.write_text(FILE.format(methods=str(methods).replace("'", '"'), options=options))
    return path


def start(study: Path, folder: Path, *more: str) -> subprocess.Popen:
    words = [sys.executable, "-m", "pc3d", "study", str(study), "--folder", str(folder), *more]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen) -> str:
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, output + errors
    return output


def assert_same_files(one: Path, other: Path) -> None:
    """All names, and all bytes that do not tell the time."""
    runs = sorted(path.parent.relative_to(one) for path in one.rglob("experiment.json"))
    assert runs
    for run in runs:
        assert names(one / run) == names(other / run)
        assert digests(one / run) == digests(other / run)
        for name in ("scores.csv", "evaluation.json"):
            assert (one / run / name).read_bytes() == (other / run / name).read_bytes()


def names(run: Path) -> set[str]:
    found = {path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file()}
    return {name for name in found if not name.startswith("tensorboard/")}


@pytest.mark.slow
def test_a_job_on_a_cluster_ends_with_the_files_of_a_local_one(tmp_path, loopback, crew):
    home = Job("spread", "mappo", 0, tmp_path / "home", SHORT, tiny_runs.ROLLOUTS)
    away = replace(home, folder=tmp_path / "away")
    states: list[State] = []
    with ThreadPoolExecutor() as side_by_side:
        at_home = side_by_side.submit(run_jobs, [home], ThisMachine(1), lambda _: None)
        run_jobs([away], crew, lambda progress: states.append(progress[0].state))
        assert at_home.result()[0].state is State.DONE
    assert [state for state, _ in groupby(states)] == [
        *(State.WAITING, State.TRAINING),
        *(State.WAITING, State.EVALUATING, State.DONE),
    ]
    assert_same_files(home.folder, away.folder)
    assert not list(loopback.folder.glob("pc3d-job-*"))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A study at home, and its file."""
    folder = tmp_path_factory.mktemp("undisturbed")
    study = write_study(folder, ["mappo", "pc3d"], LONGER)
    finish(start(study, folder / "home"))
    return study, folder / "home"


def checkpoints(folder: Path, method: str = "*") -> set[str]:
    return {str(path) for path in folder.glob(f"spread/{method}/seed-0/checkpoint/0*.safetensors")}


def wait_for_a_new_checkpoint(folder: Path, process: subprocess.Popen, method: str = "*") -> None:
    before = checkpoints(folder, method)
    assert wait_until(lambda: checkpoints(folder, method) - before or process.poll() is not None)
    assert process.poll() is None, process.communicate()


def assert_a_run_was_continued(folder: Path) -> None:
    """The sitting that finished it did not begin at its beginning."""
    runs = [path.parent for path in folder.rglob("clock.jsonl")]
    assert any(
        read_lines(run / "clock.jsonl")[-1]["updates"]
        < json.loads((run / "done.json").read_text())["updates"]
        for run in runs
    )


@pytest.mark.slow
def test_a_study_whose_node_dies_ends_with_the_same_files(tmp_path, loopback, undisturbed):
    study, home = undisturbed
    process = start(study, tmp_path, "--ray", loopback.address)
    for method in ("mappo", "pc3d"):  # whichever node dies then, its run has something to continue from
        wait_for_a_new_checkpoint(tmp_path, process, method)
    loopback.kill_a_node()
    assert wait_until(lambda: len(loopback.commands()) <= 1)
    while process.poll() is None:
        assert len(loopback.commands()) <= 1, "one CPU is left, for one job at a time"
        time.sleep(0.2)
    output = finish(process)
    loopback.add_a_node()
    assert ": waiting\n" in output  # one job lost its node and began again
    assert "Raylet" not in output
    assert_same_files(home, tmp_path)
    assert_a_run_was_continued(tmp_path)


@pytest.mark.slow
def test_a_study_told_to_stop_brings_its_checkpoints_home_and_continues(tmp_path, loopback, undisturbed):
    study, home = undisturbed
    process = start(study, tmp_path, "--ray", loopback.address)
    wait_for_a_new_checkpoint(tmp_path, process)
    before = checkpoints(tmp_path)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 75
    assert "everything is saved" in errors
    assert "Traceback" not in errors
    assert checkpoints(tmp_path) - before
    assert not loopback.commands()
    finish(start(study, tmp_path, "--ray", loopback.address))
    assert_same_files(home, tmp_path)


@pytest.mark.slow
def test_a_killed_study_leaves_no_orphans_and_continues(tmp_path, loopback, undisturbed):
    study, home = undisturbed
    process = start(study, tmp_path, "--ray", loopback.address)
    wait_for_a_new_checkpoint(tmp_path, process)
    assert loopback.commands()
    process.kill()
    process.communicate()
    assert wait_until(lambda: not loopback.commands())
    finish(start(study, tmp_path, "--ray", loopback.address))
    assert_same_files(home, tmp_path)
    assert_a_run_was_continued(tmp_path)


def a_job(folder: Path) -> Job:
    return Job("spread", "mappo", 0, folder, (), 2)


def count_to_fifty(order, sign):
    """Instead of a training: the attempt writes down again and again whether it is the first."""
    found = next((piece.content for piece in order.files.pieces if piece.name == "metrics.jsonl"), b"")
    attempt = b"second\n" if found else b"first\n"
    yield node.News()
    for count in range(1, 51):
        time.sleep(0.05)
        yield node.News(Changes((Piece("metrics.jsonl", 0, attempt * count),)))
    yield node.News(Changes((Piece("done.json", 0, attempt),)), exit_code=0)


def test_a_stale_attempt_is_not_heard_once_a_newer_one_began(tmp_path, crew, monkeypatch):
    monkeypatch.setattr(node, "work", count_to_fifty)
    monkeypatch.setattr(ray, "cancel", lambda *_, **__: None)  # out of reach: it goes on sending
    stale = crew.start(a_job(tmp_path))
    assert wait_until(lambda: stale.poll() is None and (tmp_path / "metrics.jsonl").exists())
    stale.stop_listening(1, "its node was thought dead")
    newer = crew.start(a_job(tmp_path))
    while newer.poll() is None:
        assert stale.poll() == 1
        written = (tmp_path / "metrics.jsonl").read_text().splitlines()
        assert set(written) <= ({"second"} if newer.begun and "second" in written else {"first"})
        time.sleep(0.02)
    assert newer.poll() == 0
    assert (tmp_path / "metrics.jsonl").read_text() == "second\n" * 50
    assert (tmp_path / "done.json").read_text() == "second\n"


def test_a_connection_leaves_our_signals_as_they_are(loopback):
    before = signal.getsignal(signal.SIGTERM)
    with cluster_at(loopback.address, print):
        assert signal.getsignal(signal.SIGTERM) is before


def test_two_attempts_never_work_in_one_folder(tmp_path, crew, monkeypatch):
    monkeypatch.setattr(node, "work", count_to_fifty)
    first = crew.start(a_job(tmp_path))
    with pytest.raises(BadInput, match="already working in"):
        crew.start(a_job(tmp_path))
    first.stop()


def test_a_node_with_other_versions_gets_no_jobs_and_is_named(tmp_path, crew, heard):
    crew.home["jax"] = "0.0.1"
    for _ in range(2):
        work = crew.start(a_job(tmp_path))
        assert wait_until(lambda work=work: work.poll() is not None)
        assert work.poll() == 75
    assert len(heard) == 2
    assert "instead of 0.0.1" in heard[0]
    with pytest.raises(BadInput, match=r"node \S+ has jax \S+ instead of 0\.0\.1"):
        crew.places()


def sleep_for_a_minute():
    time.sleep(60)


def test_a_full_cluster_is_told_of(tmp_path, crew, heard, monkeypatch):
    monkeypatch.setattr(cluster_module, "PATIENCE", 0.5)
    sleepers = [ray.remote(sleep_for_a_minute).remote() for _ in range(2)]
    assert wait_until(lambda: ray.available_resources().get("CPU", 0) == 0)
    work = crew.start(a_job(tmp_path))
    assert wait_until(lambda: crew.places() and heard, seconds=10)
    assert heard == ["no CPU of the cluster is free: the jobs wait"]
    assert not work.begun
    work.stop()
    assert work.poll() == 75
    for sleeper in sleepers:
        ray.cancel(sleeper, force=True)


def refusal(capsys, address: str, folder: Path) -> str:
    assert main(["study", "quick", "--folder", str(folder), "--ray", address]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert not folder.exists()
    return errors


@pytest.mark.parametrize(
    "address", ["10.0.0.1", "ray://10.0.0.1:10001", "host:0", "host:65536", "auto", "a b:1"]
)
def test_a_malformed_address_is_one_sentence(tmp_path, capsys, address):
    assert "--ray takes HOST:PORT" in refusal(capsys, address, tmp_path / "runs")


def test_an_unreachable_cluster_is_one_sentence(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(connection, "PATIENCE", 4.0)
    assert "no Ray cluster answered at 127.0.0.2:9" in refusal(capsys, "127.0.0.2:9", tmp_path / "runs")


def test_without_ray_its_extra_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.delitem(sys.modules, "pc3d.jobs.cluster.cluster")
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "pip install -e '.[cluster]'" in refusal(capsys, "10.0.0.1:6379", tmp_path / "runs")


class ShortCommand:
    """A command that writes its last file just before it ends, when nobody looks."""

    def __init__(self, job: Job, polls: int = 2) -> None:
        self.job, self.polls, self.told = job, polls, 0
        self.returncode: int | None = None

    def poll(self) -> int | None:
        self.polls -= 1
        if self.polls == 0:
            (self.job.folder / "scores.csv").write_text("all")
            self.returncode = 0
        return self.returncode

    def terminate(self) -> None:
        self.told += 1


def follow(job: Job, command: ShortCommand, monkeypatch, stop: bool) -> list[node.News]:
    monkeypatch.setattr(node, "SECONDS_BETWEEN_LOOKS", 0.0)
    monkeypatch.setattr(node, "start_worker", lambda *_: command)
    told: Future[None] = Future()
    if stop:
        told.set_result(None)
    return list(node.follow(job, told))


def test_the_last_file_comes_home_with_the_exit_code(tmp_path, monkeypatch):
    job = a_job(tmp_path)
    news = follow(job, ShortCommand(job), monkeypatch, stop=False)
    assert news == [node.News(Changes((Piece("scores.csv", 0, b"all"),)), 0, "ended with code 0")]


def test_a_command_is_told_to_stop_once(tmp_path, monkeypatch):
    """A second signal would reach it while it saves and ends, and kill it."""
    job = a_job(tmp_path)
    command = ShortCommand(job, polls=5)
    follow(job, command, monkeypatch, stop=True)
    assert command.told == 1


def test_a_preset_file_travels_with_the_job(tmp_path):
    preset = tmp_path / "mine.toml"
    preset.write_text("anything")
    job = Job("spread", "mappo", 0, tmp_path / "run", ("--preset", str(preset), "--seed", "1"), 2)
    order = node.Order(job, Changes(), cluster_module.preset_content(job), {})
    preset.unlink()
    here = node.job_here(order, tmp_path)
    path = Path(here.options[1])
    assert path.read_text() == "anything"
    assert here.options == ("--preset", str(path), "--seed", "1")


def test_a_shipped_preset_stays_a_name(tmp_path):
    job = load_study("quick").jobs(tmp_path)[0]
    assert cluster_module.preset_content(job) is None
