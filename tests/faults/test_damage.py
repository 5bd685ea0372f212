"""Files that were cut short or lost a bit: all is noticed, and where there is an older copy, it serves."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pc3d.cli import main
from pc3d.evaluation.evaluation_file import read_evaluation
from pc3d.runs.checkpoint import KEY, from_bytes, read_file, to_bytes
from pc3d.runs.metrics import LineFile
from pc3d.runs.policy import load_policy
from pc3d.runs.run_folder import RunFolder
from pc3d.system.errors import DamagedFile
from tests.faults.folders import UPDATES, experiment_for, made_run, shapes_of

NEWEST = f"checkpoint/{UPDATES[-1]:09d}.safetensors"
READERS: dict[str, Callable[[RunFolder], object]] = {
    "final.safetensors": lambda run: load_policy(run.path),
    "experiment.json": RunFolder.experiment,
    "done.json": RunFolder.check_whole,
    "metrics.jsonl": RunFolder.check_whole,
    "evaluation.json": lambda run: read_evaluation(run.path),
    "scores.csv": lambda run: read_evaluation(run.path),
    "context.json": lambda run: read_evaluation(run.path),
    "replays/size-2.json": lambda run: read_evaluation(run.path),
}
PLACES = (NEWEST, *READERS)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return made_run(tmp_path_factory.mktemp("damaged") / "run")


def truncated(content: bytes, count: int) -> Iterator[bytes]:
    lengths = random.Random(0)
    yield from (content[: lengths.randrange(len(content))] for _ in range(count))


def flipped(content: bytes, count: int) -> Iterator[bytes]:
    bits = random.Random(1)
    for _ in range(count):
        damaged, bit = bytearray(content), bits.randrange(8 * len(content))
        damaged[bit // 8] ^= 1 << bit % 8
        yield bytes(damaged)


def noticed(run: RunFolder, place: str, capsys: pytest.CaptureFixture) -> bool:
    """Whether whoever reads the file refuses it; for a checkpoint, whether the one before it is taken."""
    if place != NEWEST:
        with pytest.raises(DamagedFile, match=Path(place).name):
            READERS[place](run)
        return True
    found = run.newest_checkpoint(shapes_of(experiment_for()), experiment_for())
    assert found is not None
    told = capsys.readouterr().err
    return found[1]["update"] == UPDATES[0] and Path(place).name in told and "going back" in told


@pytest.mark.parametrize(("damage", "full"), [(truncated, 200), (flipped, 1000)], ids=["cut", "flipped"])
def test_every_damage_is_noticed(run, damage, full, count, figure, capsys):
    share = -(-count(full, 36) // len(PLACES))
    injected = 0
    for place in PLACES:
        path = run.path / place
        content = path.read_bytes()
        for damaged in damage(content, share):
            path.write_bytes(damaged)
            assert noticed(run, place, capsys), f"{place}: {damaged!r}"
            injected += 1
        path.write_bytes(content)
        assert capsys.readouterr().err == ""
    words = {"truncated": "files cut short", "flipped": "single bits flipped"}[damage.__name__]
    figure(
        f"{words}, in each of {len(PLACES)} kinds of file",
        injected,
        "all noticed, each file named; a checkpoint falls back to the one before it",
        "0 unnoticed",
    )


def test_only_the_comparison_of_all_bytes_notices_another_spelling_of_the_same_content(run):
    content = run.final.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.dumps(json.loads(content[8 : 8 + length]), indent=1).encode()
    header += b" " * (-len(header) % 8)
    respelt = len(header).to_bytes(8, "little") + header + content[8 + length :]
    run_path = run.path / "respelt"
    run_path.write_bytes(respelt)
    with pytest.raises(DamagedFile, match="not byte for byte"):
        read_file(run_path)
    run_path.unlink()


def test_a_finished_run_with_a_damaged_file_is_neither_reported_nor_called_finished(run, tmp_path, capsys):
    content = run.metrics.read_bytes()
    run.metrics.write_bytes(content.replace(b"-1.0", b"-9.0", 1))
    assert main(["report", str(run.path), "--out", str(tmp_path)]) == 2
    assert "metrics.jsonl is damaged" in capsys.readouterr().err
    with pytest.raises(DamagedFile, match=r"metrics\.jsonl"):
        run.adopt(experiment_for(), {"versions": {}})
    run.metrics.write_bytes(content)


def test_without_one_whole_checkpoint_a_run_does_not_start_over(run):
    contents = {path: path.read_bytes() for path in run.checkpoints.iterdir()}
    for path, content in contents.items():
        path.write_bytes(content[:-1])
    with pytest.raises(DamagedFile, match=r"no checkpoint in .* is whole: remove that folder"):
        run.newest_checkpoint(shapes_of(experiment_for()), experiment_for())
    for path, content in contents.items():
        path.write_bytes(content)


def test_a_line_of_metrics_lost_before_the_checkpoint_is_not_passed_over(tmp_path):
    lines = LineFile(tmp_path / "metrics.jsonl")
    for update in range(1, 6):
        lines.append({"update": update})
    content = lines.path.read_bytes()
    lines.path.write_bytes(content.replace(b'{"update": 2}', b'{"update" 2}!'))
    with pytest.raises(DamagedFile, match="a line before update 4"):
        lines.cut_after(4)
    lines.path.write_bytes(content[:-5])  # torn after the checkpoint, as a crash does it
    lines.cut_after(4)
    assert lines.path.read_bytes() == b"".join(content.splitlines(keepends=True)[:4])


def test_what_the_first_versions_wrote_without_a_checksum_is_still_read(run, tmp_path):
    old = RunFolder(tmp_path)
    content = json.loads(run.experiment_file.read_text())
    del content["sha256"]
    old.experiment_file.write_text(json.dumps(content))
    assert old.experiment() == run.experiment()


def test_the_description_is_part_of_the_checksum(run):
    arrays, description = from_bytes(run.final.read_bytes(), "final")
    other = to_bytes(arrays, {**description, "return_definition": "another"})
    assert KEY.encode() in other
    mixed = other.replace(b"another", b"altered")
    with pytest.raises(DamagedFile, match="checksum"):
        from_bytes(mixed, "mixed")
