"""Short real runs in their own processes, for tests that stop, kill and compare them."""

import hashlib
import os
import shlex
import subprocess
import sys
from pathlib import Path

SETTINGS = shlex.split("""
    --episodes 48 --ppo.update-every-episodes 4 --ppo.epochs 2 --ppo.batch-size 2
    --recipe.environments 1
    --actor.widths 16 --actor.rnn-dim 8
    --critic.widths 8 --critic.set-encoder-widths 8 --critic.set-embed-dim 4
    --curriculum.stages.0.fraction 0.5 --curriculum.stages.1.fraction 0.1
    --curriculum.stages.2.fraction 0.1 --curriculum.stages.3.fraction 0.3
""")


def train_words(folder: Path, *more: str, task: str = "spread", method: str = "pc3d") -> list[str]:
    return [sys.executable, "-m", "pc3d", "train", task, method, "--folder", str(folder), *SETTINGS, *more]


def start(folder: Path, *more: str, **names: str) -> subprocess.Popen:
    return subprocess.Popen(
        train_words(folder, *more, **names),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )


def finish(folder: Path, *more: str, **names: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        train_words(folder, *more, **names), capture_output=True, text=True, timeout=300, check=False
    )


def digests(folder: Path) -> dict[str, str]:
    """What two runs of one experiment must have in common."""
    return {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("final.safetensors", "metrics.jsonl", "experiment.json", "done.json")
    }
