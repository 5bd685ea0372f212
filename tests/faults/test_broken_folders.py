"""Whole run folders, broken at random, through every command that reads them.

Only our own sentences come out, nothing outside of the folder is read or touched, and nothing is lost.
"""

from __future__ import annotations

import faulthandler
import functools
import inspect
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

from pc3d.cli import main
from pc3d.report import sections, write
from pc3d.report.record import record_run
from pc3d.runs import train as training
from pc3d.runs.run_folder import RunFolder
from pc3d.system.errors import BadInput
from pc3d.system.threads import compilation_cache
from tests.faults.broken_folders import SECRET, Breaker
from tests.faults.folders import OPTIONS, experiment_for, made_run, train_words
from tests.faults.guard import watching

SECONDS_OF_A_HANG = 300
STUDY = f"""
about = "One run."
rollouts = 1
[[groups]]
tasks = ["spread"]
methods = ["pc3d"]
seeds = [0]
episodes = 30
options = ["{OPTIONS}"]
"""
CHEAP = (sections.results, sections.training, sections.resources, sections.about_the_runs)


class WouldWork(BadInput):
    """A command came so far that it would have begun its real work."""


def would_work(*_: object, **__: object) -> None:
    raise WouldWork("this would work")


@pytest.fixture
def cheap(monkeypatch):
    """Commands up to where they would play, learn or draw: whether they do that right is tested elsewhere."""
    monkeypatch.setattr(training._Training, "_update", would_work)
    monkeypatch.setattr("pc3d.cli.evaluate.evaluate", would_work)
    monkeypatch.setattr("pc3d.cli.watch._play", would_work)
    monkeypatch.setattr("pc3d.cli.study.run_jobs", would_work)
    monkeypatch.setattr("pc3d.cli.study.run_command", lambda _: None)
    monkeypatch.setattr(sections, "learning_curves", lambda *_: None)
    monkeypatch.setattr(sections, "stage_curves", lambda *_: None)
    monkeypatch.setattr(write, "SECTIONS", CHEAP)
    # Every command reads the source of all settings for its help: a third of what a try costs.
    monkeypatch.setattr(inspect, "findsource", functools.cache(inspect.findsource))


def commands(folder: Path, out: Path) -> dict[str, list[str]]:
    """All that read runs; those that only read come first."""
    run = str(folder / "spread" / "pc3d" / "seed-0")
    return {
        "report": ["report", str(folder), "--out", str(out / "report")],
        "record": ["record", str(folder), "--out", str(out / "results")],
        "watch": ["watch", run, "--team-size", "2", "--out", str(out / "film.html")],
        "export": ["export", run, str(out / "policy.safetensors"), "--force"],
        "evaluate": ["evaluate", str(folder), "--rollouts", "1", "--replace"],
        "train": train_words(Path(run)),
        "study": ["study", str(out / "study.toml"), "--folder", str(folder)],
    }


ONLY_READ = ("report", "record", "watch", "export")


def contents(folder: Path) -> dict[str, object]:
    """Everything in a folder, links unfollowed."""
    return {
        path.relative_to(folder).as_posix(): path.readlink()
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else None
        for path in sorted(folder.rglob("*"))
        if path.name != "lock"
    }


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A whole run, another one, and what lies outside of both."""
    root = tmp_path_factory.mktemp("folders")
    made_run(root / "whole" / "seed-0", experiment_for())
    made_run(root / "other", experiment_for(seed=1))
    (root / "outside").mkdir()
    (root / "outside" / "bystander").write_text(SECRET)
    return root


def prepared(places: Path, out: Path) -> Path:
    """The record that is already there, and a study of the run."""
    out.mkdir()
    (out / "study.toml").write_text(STUDY)
    record = out / "results" / "spread" / "pc3d" / "seed-0"
    record_run(RunFolder(places / "whole" / "seed-0"), record, with_policy=True, with_replays=True)
    return record


@pytest.mark.usefixtures("cheap")
def test_a_whole_folder_passes_every_command(places, tmp_path, capsys):
    folder, out = tmp_path / "runs", tmp_path / "out"
    shutil.copytree(places / "whole" / "seed-0", folder / "spread" / "pc3d" / "seed-0")
    prepared(places, out)
    for name, words in commands(folder, out).items():
        code = main(words)
        told = capsys.readouterr().err
        assert code == 0 or "this would work" in told, (name, told)


@pytest.mark.usefixtures("cheap")
def test_broken_folders_are_refused_or_whole_and_all_else_untouched(places, tmp_path, capsys, count, figure):
    folder, out, record = tmp_path / "broken", tmp_path / "out", prepared(places, tmp_path / "out")
    breaker = Breaker(places / "whole" / "seed-0", places / "other", places / "outside", seed=count(0, 1))
    good, injected, refused = contents(record), count(2000, 6), Counter[str]()
    for _ in range(injected):
        shutil.rmtree(folder, ignore_errors=True)
        what = breaker.broken(folder / "spread" / "pc3d" / "seed-0")
        outside = contents(places / "outside")
        with watching() as seen:
            for name, words in commands(folder, out).items():
                refused[name] += refuses(words, folder, f"{what}, {name}", capsys)
                assert contents(places / "outside") == outside, (what, name)
        assert seen.code == [], what
        strays = [place for place in seen.changed if not _is_inside(place, folder, out, compilation_cache())]
        assert strays == [], what
        RunFolder(record).check_whole()
        now = contents(record)
        assert SECRET.encode() not in b"".join(filter(lambda one: isinstance(one, bytes), now.values()))
        if now != good:  # what was recorded over it was held to be whole
            shutil.rmtree(record)
            record_run(RunFolder(places / "whole" / "seed-0"), record, with_policy=True, with_replays=True)
    figure(
        "whole run folders with something missing, cut, swapped, linked or made up, through 7 commands",
        injected,
        "only our own sentences; nothing outside read or touched, no record lost",
        ", ".join(f"{name} refused {number:,}" for name, number in refused.items()),
    )


def refuses(words: list[str], folder: Path, what: str, capsys: pytest.CaptureFixture) -> bool:
    """Whether a command refuses the folder; whichever it does, in our own words and without a trace."""
    before = contents(folder)
    capsys.readouterr()
    faulthandler.dump_traceback_later(SECONDS_OF_A_HANG, exit=True, file=sys.__stderr__)
    code = main(words)
    faulthandler.cancel_dump_traceback_later()
    told = capsys.readouterr()
    where = f"{what}: {told.err}"
    assert code in (0, 2), where
    assert told.err.count("\n") <= 3, where
    for never in ("Traceback", "\x1b", SECRET):
        assert never not in told.err + told.out, where
    assert "nan" not in told.out, where
    if words[0] in ONLY_READ:
        assert contents(folder) == before, where
    return code == 2 and "this would work" not in told.err


def _is_inside(place: str, *folders: Path) -> bool:
    return place == "/dev/null" or any(Path(place).is_relative_to(folder) for folder in folders)
