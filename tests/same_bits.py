"""Is what this checkout computes, to the last bit, what another revision computed? `make same-bits BASE=REV`.

Short trainings of every method on every task, in worlds on the host, too, and an evaluation, by the same
commands in a worktree of the revision and here. Policies, metrics and scores are compared byte by byte; of a
policy's file the arrays, because how it describes itself may change, and of lines the numbers. What was made
for a revision is kept.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from safetensors.numpy import load_file

from pc3d.runs.metrics import as_bytes, read_lines

ROOT = Path(__file__).parents[1]
KEPT = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "pc3d" / "same-bits"
METHODS = ("ippo", "mappo", "pic", "pc3d", "gate-off", "gate-on", "a-mappo", "hyper-pc3d")
# Episodes between two updates with the paper's settings: of IPPO, and of all others.
PER_UPDATE = {"spread": (16, 64), "lbf": (128, 16), "rware": (64, 8)}
UPDATES = {"spread": 8, "lbf": 6, "rware": 5}  # enough to meet every stage's largest team
QUIET = ("--tensorboard", "False", "--checkpoint-every", "0")
COMPARED_BYTES = ("metrics.jsonl", "scores.csv", "context.json", "evaluations.jsonl")
LONGEST_NAMED = 3  # differences of a run that are printed


@dataclass(frozen=True)
class Case:
    """One run: how it is trained, and whether its policy is scored."""

    name: str
    words: tuple[str, ...]
    evaluated: bool = False


def cases(tasks: tuple[str, ...], methods: tuple[str, ...]) -> Iterator[Case]:
    """Every method on every task, and what else the code may do on its way."""
    for task in tasks:
        for method in methods:
            episodes = PER_UPDATE[task][method != "ippo"] * UPDATES[task]
            words = (task, method, "--episodes", str(episodes))
            yield Case(f"{task}-{method}", words, evaluated=task == "lbf" and method in ("mappo", "pc3d"))
    if "spread" in tasks and "pc3d" in methods:
        few = ("--episodes", "128")
        yield Case("global-state", ("spread", "pc3d", *few, "--critic.global-state", "True"))
        yield Case("evaluated-on-the-way", ("spread", "mappo", *few, "--evaluate-every", "64"))
        yield Case("originals", ("spread", "pc3d", *few, "--backend", "original"))
        sizes = ("--rosters", "examples/own_task/rosters.toml")
        yield Case("own-task", ("examples.own_task.pursuit:make", "pc3d", *sizes, "--episodes", "16"))


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare this checkout with another revision, bit by bit.")
    parser.add_argument("base", help="the revision to compare with")
    parser.add_argument("--tasks", nargs="*", default=list(PER_UPDATE), choices=list(PER_UPDATE))
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=METHODS)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    asked = list(cases(tuple(options.tasks), tuple(options.methods)))
    revision = _git("rev-parse", "--verify", f"{options.base}^{{commit}}")
    before, here = KEPT / revision, KEPT / "here"
    shutil.rmtree(here, ignore_errors=True)
    with _Worktree(revision) as tree:
        _make(asked, tree, before, options.workers)
    _make(asked, ROOT, here, options.workers)
    found = [line for case in asked for line in differences(before / case.name, here / case.name)]
    print("\n".join(found) or f"the same bits as {revision[:12]} in {len(asked)} runs")
    return 1 if found else 0


def differences(before: Path, here: Path) -> list[str]:
    """What two runs of one case do not share."""
    told = []
    for name in COMPARED_BYTES:
        old, new = (_content(folder / name) for folder in (before, here))
        if old != new:
            told.append(f"{here.name}: {name} {_first_difference(old, new)}")
    old_policy, new_policy = (load_file(folder / "final.safetensors") for folder in (before, here))
    for name in sorted(old_policy.keys() ^ new_policy.keys()):
        told.append(f"{here.name}: only one of the policies has {name}")
    for name in sorted(old_policy.keys() & new_policy.keys()):
        if old_policy[name].tobytes() != new_policy[name].tobytes():
            told.append(f"{here.name}: the policies' {name} differ")
    more = len(told) - LONGEST_NAMED
    return told[:LONGEST_NAMED] + ([f"{here.name}: and {more} more"] if more > 0 else [])


def _make(asked: list[Case], tree: Path, folder: Path, workers: int) -> None:
    """Train and score what is not there yet with the code of that tree, some at a time."""
    missing = [case for case in asked if not (folder / case.name / "whole").exists()]
    with ThreadPoolExecutor(workers) as pool:
        for done, line in enumerate(pool.map(lambda case: _made(case, tree, folder), missing), start=1):
            print(f"{folder.name[:12]} {done}/{len(missing)}: {line}", flush=True)


def _made(case: Case, tree: Path, folder: Path) -> str:
    place, began = folder / case.name, time.monotonic()
    shutil.rmtree(place, ignore_errors=True)
    _pc3d(tree, "train", *case.words, "--folder", str(place), *QUIET)
    if case.evaluated:
        _pc3d(tree, "evaluate", str(place), "--rollouts", "8")
    (place / "whole").touch()
    return f"{case.name} in {time.monotonic() - began:.0f} s"


def _pc3d(tree: Path, *words: str) -> None:
    """A command of that tree's code, in its folder; the packages are this environment's."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    told = subprocess.run(
        [sys.executable, "-m", "pc3d", *words],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if told.returncode != 0:
        sys.exit(
            f"pc3d {' '.join(words)} in {tree} ended with {told.returncode}: {told.stderr.strip()[-2000:]}"
        )


class _Worktree:
    """Another revision's files for a while."""

    def __init__(self, revision: str) -> None:
        self.place, self.revision = KEPT / f"tree-{revision[:12]}", revision

    def __enter__(self) -> Path:
        self.place.parent.mkdir(parents=True, exist_ok=True)
        self.__exit__()
        _git("worktree", "add", "--quiet", "--detach", str(self.place), self.revision)
        return self.place

    def __exit__(self, *reason: object) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        _git("worktree", "prune")


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(ROOT), *words], check=True, capture_output=True, text=True
    ).stdout.strip()


def _content(path: Path) -> bytes | None:
    if not path.exists():
        return None
    # Revisions may shape their lines otherwise; the numbers in them are written in full, to the last bit.
    return b"".join(map(as_bytes, read_lines(path))) if path.suffix == ".jsonl" else path.read_bytes()


def _first_difference(old: bytes | None, new: bytes | None) -> str:
    if old is None or new is None:
        return "is there only " + ("here" if old is None else "before")
    lines = zip(old.splitlines(), new.splitlines(), strict=False)
    at = next((number for number, (one, other) in enumerate(lines, start=1) if one != other), "its length")
    return f"differs first at line {at}" if isinstance(at, int) else "differs in its length"


if __name__ == "__main__":
    sys.exit(main())
