"""The shortest real runs, in processes of their own: one team size, so one program; they mostly start."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pc3d.runs.metrics import read_lines

UPDATES, INTERVAL = 60, 4  # in all, and from one checkpoint or evaluation to the next
PATIENCE = 300  # seconds; only a process that hangs takes that long
ROLLOUTS = 2  # of every evaluation: they share their program
ONE_SIZE = [
    *("--rosters.train", "2", "--rosters.validation", "--rosters.test"),
    *(
        word
        for stage in range(4)
        for word in shlex.split(
            f"--curriculum.stages.{stage}.team-sizes 2 --curriculum.stages.{stage}.probabilities 1"
        )
    ),
]
NETWORKS = shlex.split("""
    --recipe.environments 1 --actor.widths 8 --actor.rnn-dim 4 --critic.widths 8
    --critic.set-encoder-widths 8 --critic.set-embed-dim 4
""")
SETTINGS = shlex.split(f"""
    --episodes {UPDATES} --ppo.update-every-episodes 1 --ppo.epochs 1 --ppo.batch-size 1
""")
SETTINGS += NETWORKS + ONE_SIZE
CAPACITY = 6  # of a replay that is full long before the end
REPLAYED = shlex.split(f"""
    --episodes {4 * CAPACITY} --checkpoint-every {INTERVAL} --tensorboard False
    --q.capacity {CAPACITY} --q.batch-size 2 --q.gradient-steps 1 --q.mixing-width 4 --q.hypernetwork-widths 4
""")
# The budget is a part of the program, so that all runs that shall not end have the same.
ENDLESS = ("--episodes", "1000000")
HABITS = shlex.split(f"""
    --checkpoint-every {INTERVAL} --evaluate-every {INTERVAL} --evaluation-rollouts {ROLLOUTS}
    --tensorboard False
""")


def train_words(folder: Path) -> list[str]:
    return ["train", "spread", "mappo", "--folder", str(folder), *SETTINGS, *HABITS]


def replayed_words(folder: Path) -> list[str]:
    """A run that learns from a replay."""
    settings = (*REPLAYED, *NETWORKS, *ONE_SIZE)
    return ["train", "spread", "pc3d-qmix", "--folder", str(folder), *settings]


def evaluate_words(folder: Path) -> list[str]:
    return ["evaluate", str(folder), "--rollouts", str(ROLLOUTS)]


def unscored_copy(run: Path, folder: Path) -> Path:
    """A finished run whose evaluation is still to come."""
    shutil.copytree(run, folder)
    (folder / "scores.csv").unlink()
    return folder


def write_study(file: Path, seeds: int, *more: str) -> None:
    """A study of tiny runs that differ in their seed; more words change their settings."""
    options = " ".join((*SETTINGS, "--checkpoint-every", str(INTERVAL), "--tensorboard", "False", *more))
    file.write_text(f"""
        about = "Tiny runs."
        rollouts = {ROLLOUTS}
        [[groups]]
        tasks = ["spread"]
        methods = ["mappo"]
        seeds = {list(range(seeds))}
        options = ["{options}"]
    """)


def children_of(process: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):  # it has ended
        return []


def start(words: list[str], cache: Path | None = None) -> subprocess.Popen[str]:
    """A pc3d command; with an empty cache of its own it has to compile first."""
    return subprocess.Popen(
        [sys.executable, "-m", "pc3d", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **({"JAX_COMPILATION_CACHE_DIR": str(cache)} if cache else {})},
    )


def finish(words: list[str]) -> float:
    """Run a command to its end, which must be a good one; how many seconds it took."""
    began = time.monotonic()
    process = start(words)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    return time.monotonic() - began


def make_and_time(folder: Path) -> tuple[float, float]:
    """Make a run and its evaluation; the seconds that each took."""
    return finish(train_words(folder)), finish(evaluate_words(folder))


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Until it is so, or the process has ended."""
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and not condition():
        assert time.monotonic() < deadline
        time.sleep(0.0002)  # an unfinished file is there for a millisecond or so


def updates_written(folder: Path) -> int:
    lines = read_lines(folder / "metrics.jsonl")
    return int(lines[-1]["update"]) if lines else 0


def updates_saved(folder: Path) -> int:
    return max((int(path.stem) for path in (folder / "checkpoint").glob("[0-9]*.safetensors")), default=0)


def unfinished_files(folder: Path) -> list[Path]:
    """What is being written, or was when its process died."""
    return [*folder.glob(".*.new"), *folder.glob("checkpoint/.*.new")]


def catches(process: subprocess.Popen[str], number: signal.Signals) -> bool:
    """Whether a process has a handler of its own for a signal."""
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return False
    caught = [line.split()[1] for line in lines if line.startswith("SigCgt")]
    return bool(caught) and bool(int(caught[0], 16) >> (number - 1) & 1)
