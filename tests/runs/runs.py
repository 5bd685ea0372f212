"""Short real runs, for tests that stop, kill and compare them: most of their work is to start and compile."""

import hashlib
import os
import shlex
import subprocess
import sys
from pathlib import Path

from pc3d.cli import main
from pc3d.jobs.study import Job
from pc3d.runs.done_file import read_done
from pc3d.runs.run_folder import RunFolder

# Teams of one, then of two: every width is a program to compile, and every size one more to evaluate.
SETTINGS = shlex.split("""
    --episodes 48 --ppo.update-every-episodes 4 --ppo.epochs 2 --ppo.batch-size 2
    --recipe.environments 1
    --actor.widths 16 --actor.rnn-dim 8
    --critic.widths 8 --critic.set-encoder-widths 8 --critic.set-embed-dim 4
    --rosters.train 1 2 --rosters.validation 3 --rosters.test 4
    --curriculum.stages.0.team-sizes 1 --curriculum.stages.0.probabilities 1
    --curriculum.stages.1.team-sizes 1 2 --curriculum.stages.1.probabilities 0.5 0.5
    --curriculum.stages.2.team-sizes 1 2 --curriculum.stages.2.probabilities 0.3 0.7
    --curriculum.stages.3.team-sizes 2 --curriculum.stages.3.probabilities 1
    --curriculum.stages.0.fraction 0.5 --curriculum.stages.1.fraction 0.1
    --curriculum.stages.2.fraction 0.1 --curriculum.stages.3.fraction 0.3
""")


def train_words(folder: Path, *more: str, task: str = "spread", method: str = "pc3d") -> list[str]:
    """A command; for a process of its own, or for this one."""
    return ["train", task, method, "--folder", str(folder), *SETTINGS, *more]


def start(folder: Path, *more: str, **names: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "pc3d", *train_words(folder, *more, **names)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )


def finish(folder: Path, *more: str, **names: str) -> None:
    """A run in a process of its own, to its end."""
    process = start(folder, *more, **names)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors


def digests(folder: Path) -> dict[str, str]:
    """What two runs of one experiment must have in common; the clock never is, nor what habits add."""
    names = ("final.safetensors", "metrics.jsonl", "experiment.json")
    assert read_done(folder).trained.keys() >= set(names)
    RunFolder(folder).check_whole()
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def done_here(job: Job, folder: Path) -> Path:
    """A study's job done in this process, where its programs are compiled once for all."""
    place = folder / str(job.seed)
    for words in (job.train_words, job.evaluate_words):
        assert main([str(place) if word == str(job.folder) else word for word in words]) == 0
    return place


def results(folder: Path) -> dict[str, object]:
    """All that a report is made from."""
    return {**digests(folder), "scores": (folder / "scores.csv").read_bytes()}
