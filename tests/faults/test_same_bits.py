"""What must not matter does not: the process, its folders, and how often a run is written down or saved."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from pc3d.cli import main
from tests.faults.tiny_runs import PATIENCE, train_words
from tests.runs.runs import digests

SAME = ("--log-every", "1")
OTHER_HABITS = {
    "the same again": SAME,
    "saved after every update": (*SAME, "--checkpoint-every", "1"),
    "never saved, never evaluated": (*SAME, "--checkpoint-every", "0", "--evaluate-every", "0"),
    "written down after every seventh update": ("--log-every", "7"),
}


def test_the_same_seed_gives_the_same_bits(tmp_path, count, figure):
    pairs = count(20, 2)
    kinds = list(OTHER_HABITS.items())
    for seed in range(pairs):
        # With few pairs, take those that differ most.
        name, habits = kinds[-1 - seed % len(kinds)]
        first, second = tmp_path / f"first-{seed}", tmp_path / "elsewhere" / "deep" / f"second-{seed}"
        assert main([*train_words(first), *SAME, "--seed", str(seed)]) == 0
        elsewhere(second, [*habits, "--seed", str(seed)], hashes=seed + 1)
        compared = digests(first).keys() if habits[:2] == SAME else {"final.safetensors", "experiment.json"}
        for file in compared:
            assert digests(first)[file] == digests(second)[file], (name, file)
    happened = "the same bits from another process, folder, logging and checkpoint frequency"
    figure("the same seed twice", pairs, happened, "0 bits differ")


def elsewhere(folder: Path, more: list[str], hashes: int) -> None:
    """The run in another process, working folder, order of sets and time zone."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    words = [*train_words(Path(folder.name)), *more]
    environment = {**os.environ, "PYTHONHASHSEED": str(hashes), "TZ": "Pacific/Auckland"}
    subprocess.run(
        [sys.executable, "-m", "pc3d", *words],
        cwd=folder.parent,
        env=environment,
        timeout=PATIENCE,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def test_another_seed_gives_other_bits(tmp_path, undisturbed):
    assert main([*train_words(tmp_path / "1"), "--seed", "1"]) == 0
    assert digests(tmp_path / "1")["final.safetensors"] != digests(undisturbed.run)["final.safetensors"]
