"""A run folder or study file from somebody else, through the commands that read it.

What is missing, leads elsewhere or was made up is one sentence and exit code 2; nothing is read or written
outside, nothing is lost, and no number comes out that was never measured.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pc3d.cli import main
from pc3d.evaluation.evaluation_file import write_evaluation
from pc3d.runs.checkpoint import from_bytes, to_bytes
from pc3d.runs.run_folder import RunFolder
from pc3d.system.errors import BadInput
from tests.faults.broken_folders import SECRET
from tests.faults.folders import experiment_for, made_run, train_words
from tests.faults.test_broken_folders import SECONDS_OF_A_HANG, STUDY


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return made_run(tmp_path_factory.mktemp("strangers") / "run", experiment_for()).path


@pytest.fixture
def run(whole, tmp_path):
    """A copy in the place that a study gives it."""
    return RunFolder(shutil.copytree(whole, tmp_path / "runs" / "spread" / "pc3d" / "seed-0"))


@pytest.fixture
def outside(tmp_path):
    file = tmp_path / "outside"
    file.write_text(SECRET)
    return file


@pytest.fixture
def refusal(capsys):
    """Runs a command that must be refused, in one sentence, before anybody loses patience."""

    def refused(words: list[str]) -> str:
        def give_up(*_: object) -> None:
            raise TimeoutError(f"{words[0]} hangs")

        before = signal.signal(signal.SIGALRM, give_up)
        signal.alarm(SECONDS_OF_A_HANG)
        try:
            code = main(words)
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
        told = capsys.readouterr()
        assert code == 2, told
        assert told.err.startswith("pc3d: "), told
        assert told.err.count("\n") == 1, told
        assert SECRET not in told.err
        return told.err

    return refused


def record(folder: Path, out: Path) -> list[str]:
    return ["record", str(folder), "--out", str(out)]


def report(folder: Path, out: Path) -> list[str]:
    return ["report", str(folder), "--out", str(out)]


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def finished_again(run: RunFolder) -> None:
    """Done by somebody who knows how digests are taken."""
    run.done_file.unlink(missing_ok=True)
    run.finish({"episodes": 30, "updates": 10})


def test_what_lost_its_metrics_is_not_recorded_over_a_good_record(run, tmp_path, refusal):
    assert main(record(tmp_path / "runs", tmp_path / "results")) == 0
    kept = contents(tmp_path / "results")
    run.metrics.unlink()
    assert "metrics.jsonl is missing" in refusal(record(tmp_path / "runs", tmp_path / "results"))
    assert contents(tmp_path / "results") == kept


def test_what_lost_its_policy_is_not_already_finished(run, refusal):
    run.final.unlink()
    assert "final.safetensors is missing" in refusal(train_words(run.path))


@pytest.mark.parametrize("finished", [True, False])
def test_what_lost_its_experiment_becomes_no_other_one(run, refusal, finished):
    run.experiment_file.unlink()
    if not finished:
        run.done_file.unlink()
    assert "experiment.json is missing" in refusal(train_words(run.path, "--seed", "1"))
    assert not run.experiment_file.exists()


@pytest.mark.parametrize("command", [record, report])
@pytest.mark.parametrize("name", ["clock.jsonl", "metrics.jsonl", "scores.csv", "experiment.json"])
def test_a_link_is_not_followed(run, tmp_path, outside, refusal, name, command):
    (run.path / name).unlink()
    (run.path / name).symlink_to(outside)
    assert name in refusal(command(tmp_path / "runs", tmp_path / "out"))
    assert all(SECRET.encode() not in content for content in contents(tmp_path / "out").values())


@pytest.mark.parametrize("name", ["clock.jsonl", "metrics.jsonl", "context.json"])
def test_a_pipe_is_not_waited_for(run, tmp_path, refusal, name):
    (run.path / name).unlink()
    os.mkfifo(run.path / name)
    assert name in refusal(record(tmp_path / "runs", tmp_path / "out"))


def test_a_study_writes_through_no_link(run, tmp_path, outside, refusal, monkeypatch):
    run.done_file.unlink()
    (run.path / "errors.log").symlink_to(outside)
    (tmp_path / "study.toml").write_text(STUDY)

    def no_worker(*_: object, **__: object) -> None:
        raise BadInput("a worker would be started")

    monkeypatch.setattr(subprocess, "Popen", no_worker)
    words = ["study", str(tmp_path / "study.toml"), "--folder", str(tmp_path / "runs")]
    assert "errors.log" in refusal([*words, "--recorded", str(tmp_path / "none")])
    assert outside.read_text() == SECRET


METRICS = {"update": 10, "episodes": 30, "stage": 1, "return": -1.0, "return_by_size": {"2": [3, -1.0]}}
CLOCKS = ({}, {"updates": 3}, {"updates": 3, "seconds": math.nan}, {"updates": 3, "seconds": -5.0})
EVALUATIONS = ({}, {"update": 3, "episodes": 9}, {"update": 3, "episodes": 9, "return_by_size": {"2": "x"}})
METRICS_LINES = (
    {"update": 10},
    *({name: METRICS[name] for name in METRICS if name != lost} for lost in METRICS if lost != "update"),
    *({**METRICS, "return": value} for value in ("text", math.nan, None)),
    {**METRICS, "return_by_size": {"2": "text"}},
)
LINES = [
    *(("clock.jsonl", line) for line in (*CLOCKS, {"updates": 3, "seconds": "x"})),
    *(("evaluations.jsonl", line) for line in EVALUATIONS),
    *(("metrics.jsonl", line) for line in METRICS_LINES),
]


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize("name", ["clock.jsonl", "evaluations.jsonl", "metrics.jsonl"])
def test_a_line_that_no_training_writes_is_named_and_counts_nowhere(run, tmp_path, refusal, name, finished):
    file, good = run.path / name, (run.path / name).read_bytes() if (run.path / name).exists() else b""
    for line in (line for of, line in LINES if of == name):
        file.write_bytes(good + json.dumps(line).encode() + b"\n")
        finished_again(run) if finished else run.done_file.unlink(missing_ok=True)
        assert f"{name} is damaged: a line" in refusal(report(tmp_path / "runs", tmp_path / "report")), line


@pytest.mark.parametrize("line", [METRICS_LINES[0], METRICS_LINES[-1]])
def test_a_run_that_resumes_after_its_end_shows_no_line_that_training_does_not_write(run, refusal, line):
    run.done_file.unlink()
    lines = run.metrics.read_text().splitlines()[:-1]
    run.metrics.write_text("\n".join([*lines, json.dumps(line)]) + "\n")
    assert "metrics.jsonl is damaged: a line" in refusal(train_words(run.path, "--tensorboard", "False"))


def test_scores_that_no_game_gives_are_refused(run, tmp_path, refusal):
    scores = (run.path / "scores.csv").read_bytes().replace(b",-2.5", b",1e308")
    write_evaluation(run.path, {"format": 1, "rollouts": 1, "backend": "jax"}, scores)
    (run.path / "scores.csv").write_bytes(scores)
    told = refusal(report(tmp_path / "runs", tmp_path / "report"))
    assert "a return of 1e+308, which no game gives" in told


def test_a_folder_whose_name_looks_like_markup_is_named_as_it_is(run, tmp_path, refusal):
    odd = tmp_path / "[red]odd[" / "bold]"
    odd.parent.mkdir()
    run.path.rename(odd)
    (odd / "done.json").unlink()
    assert f"no finished run in {odd}" in refusal(["evaluate", str(odd)])


@pytest.mark.parametrize("words", [["watch", "--team-size", "2", "--out"], ["export"]])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_policy_that_is_not_finite_is_neither_exported_nor_watched(run, tmp_path, refusal, words, value):
    arrays, description = from_bytes(run.final.read_bytes(), "the policy")
    name = next(name for name in sorted(arrays) if name.startswith("actor."))
    arrays[name] = np.full_like(arrays[name], value)
    run.final.write_bytes(to_bytes(arrays, description))
    finished_again(run)
    out = tmp_path / ("film.html" if words[0] == "watch" else "policy.safetensors")
    command, *options = words
    told = refusal([command, str(run.path), *options, str(out)])
    assert f"cannot act: {name} is not finite" in told
    assert not out.exists()


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "a/" * 3000])
@pytest.mark.parametrize("command", ["evaluate", "report", "record"])
def test_a_name_that_no_file_can_have_is_one_sentence(refusal, command, name):
    assert len(refusal([command, name])) < 10_000
