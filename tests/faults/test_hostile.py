"""Hostile files: no code runs, nothing else is touched, little time and memory is taken, exit code 2."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pc3d.cli import main
from pc3d.evaluation import run as evaluation
from pc3d.runs.policy import load_policy
from pc3d.runs.run_folder import RunFolder
from pc3d.runs.train import train
from pc3d.system.checked_json import read_checked
from pc3d.system.errors import BadInput
from pc3d.system.files import write_atomically
from tests.faults import hostile_files
from tests.faults.folders import arena_of, experiment_for, made_run, shapes_of
from tests.faults.guard import watching

MOST_SECONDS, MOST_MEGABYTES = 2.0, 200.0  # of a slow core: a fast one takes half a second
Reader = Callable[[Path, Path], int]  # from the hostile file and a folder to write to, to an exit code


def checkpoint(file: Path, folder: Path) -> int:
    run = RunFolder(folder / "run")
    run.checkpoints.mkdir(parents=True)
    file.rename(run.checkpoints / "000000001.safetensors")
    try:
        run.newest_checkpoint(shapes_of(experiment_for()), experiment_for())
    except BadInput as error:
        return error.exit_code
    return 0


def policy(file: Path, folder: Path) -> int:
    return main(["evaluate", str(file), "--out", str(folder), "--rollouts", "1"])


def study(file: Path, folder: Path) -> int:
    return main(["study", str(file), "--folder", str(folder), "--dry-run"])


def preset(file: Path, folder: Path) -> int:
    named = file.with_suffix(".toml")
    file.rename(named)
    return main(["train", "spread", "pc3d", "--preset", str(named), "--folder", str(folder)])


def experiment(file: Path, folder: Path) -> int:
    run = made_run(folder / "runs" / "run")
    run.experiment_file.unlink()
    file.rename(run.experiment_file)
    _make_scores_fit(run)
    return main(["record", str(folder / "runs"), "--out", str(folder / "results" / "a" / "b")])


def _make_scores_fit(run: RunFolder) -> None:
    """As somebody would who wants the record to be made: the scores are of the task and method it names."""
    (run.path / "evaluation.json").unlink()
    with contextlib.suppress(BadInput, KeyError, TypeError):
        named = read_checked(run.experiment_file, ("experiment",))["experiment"]
        scores = run.path / "scores.csv"
        other = f"\n{named['task']},{named['method']},"
        scores.write_text(scores.read_text().replace("\nspread,pc3d,", other))


def storage(file: Path, folder: Path) -> int:
    from pc3d.jobs.tuning.storage import Storage
    from tests.jobs.tuning.searches import small_plan

    try:
        Storage(f"sqlite:///{file}", "a search", small_plan(), "here").records()
    except BadInput as error:
        return error.exit_code
    return 0


KINDS: dict[str, tuple[Reader, hostile_files.Makers]] = {
    "checkpoint": (checkpoint, hostile_files.ARRAYS),
    "policy": (policy, hostile_files.ARRAYS | hostile_files.SIGNED),
    "study": (study, hostile_files.STUDIES),
    "preset": (preset, hostile_files.PRESETS),
    "experiment": (experiment, hostile_files.EXPERIMENTS),
    "storage": (storage, hostile_files.STORAGES),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_file_is_refused_and_does_nothing(kind, tmp_path, monkeypatch, capsys, count, figure):
    read, makers = KINDS[kind]
    bystander = tmp_path / "outside" / "bystander"
    bystander.parent.mkdir()
    bystander.write_text("untouched")
    trap = tmp_path / f"{hostile_files.TRAP}.py"
    trap.write_text(f"open({str(bystander)!r}, 'w').write('the trap was imported')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    rehearse(kind, tmp_path / "rehearsal")
    # Time only counts where everything is counted: a test of the code must not depend on who else is busy.
    slowest, largest, most_seconds = 0.0, 0.0, count(MOST_SECONDS, 10 * MOST_SECONDS)
    chosen = list(makers.items())[:: count(1, 8)]
    for name, make in chosen:
        folder = tmp_path / "folder"
        folder.mkdir()
        make(folder / "file")
        capsys.readouterr()
        with watching() as seen:
            code = read(folder / "file", folder / "written")
        said = capsys.readouterr().err
        assert code == 2, name
        assert seen.code == [], name
        assert all(Path(place).is_relative_to(folder) for place in seen.changed), (name, seen.changed)
        assert "Traceback" not in said, name
        assert "\x1b" not in said, name
        assert len(said) < 2000, name
        assert seen.seconds <= most_seconds, name
        assert seen.megabytes <= MOST_MEGABYTES, name
        slowest, largest = max(slowest, seen.seconds), max(largest, seen.megabytes)
        shutil.rmtree(folder)
    assert bystander.read_text() == "untouched"
    assert sorted(path.name for path in bystander.parent.iterdir()) == ["bystander"]
    figure(
        f"hostile {kind} files",
        len(chosen),
        "refused with exit code 2; no code runs, no other file is touched",
        f"{slowest:.2f} s, {largest:.0f} MB",
    )


def rehearse(kind: str, folder: Path) -> None:
    """Read one that is merely bad, so that all of our own modules are imported before anybody watches."""
    read, _ = KINDS[kind]
    folder.mkdir()
    (folder / "file").write_bytes(b"bad")
    assert read(folder / "file", folder / "written") == 2


ODD_ENTRIES = ("metrics.jsonl", "lock", "checkpoint", "replays", "tensorboard", "clock.jsonl")


@pytest.mark.parametrize("entry", ODD_ENTRIES)
def test_a_run_folder_with_a_link_in_it_is_not_written_to(entry, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "bystander").write_text("untouched")
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()
    (run.path / entry).symlink_to(outside if "." not in entry else outside / "bystander")
    with pytest.raises(BadInput, match=f"{entry} is neither an ordinary file nor a folder"):
        train(experiment_for(), arena_of(experiment_for()), run.path)
    assert [path.name for path in outside.iterdir()] == ["bystander"]
    assert (outside / "bystander").read_text() == "untouched"


def test_an_evaluation_does_not_remove_what_a_link_leads_to(tmp_path, monkeypatch):
    run = made_run(tmp_path / "run")
    bystander = tmp_path / "outside" / "size-3.json"
    bystander.parent.mkdir()
    bystander.write_text("untouched")
    shutil.rmtree(run.path / "replays")
    (run.path / "replays").symlink_to(bystander.parent)
    monkeypatch.setattr(evaluation, "scored", lambda *_: None)
    monkeypatch.setattr(evaluation, "score_rows", lambda *_: [])
    with pytest.raises(BadInput, match="replays is neither an ordinary file nor a folder"):
        evaluation.evaluate(load_policy(run.path), arena_of(run.experiment()), run.path)
    assert bystander.read_text() == "untouched"


def test_a_temporary_file_that_is_a_link_is_replaced_and_not_written_through(tmp_path):
    bystander = tmp_path / "bystander"
    bystander.write_text("untouched")
    (tmp_path / ".file.new").symlink_to(bystander)
    write_atomically(tmp_path / "file", b"content")
    assert bystander.read_text() == "untouched"
    assert (tmp_path / "file").read_bytes() == b"content"
