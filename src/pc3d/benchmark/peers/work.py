"""What ours and every peer are given to do, and how they take turns.

A learner is a process of its own: it reads the work as JSON from its command line, says when it is ready, and
then, for every line it is given, does one update (play, then learn) and answers with its seconds.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from pc3d.system.errors import BadInput, Pc3dError
from pc3d.system.processes import PYTHON, environment_of_child

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Work:
    """Recurrent MAPPO on Spread: as much of it as all the learners can be told."""

    agents: int = 3
    episodes: int = 82  # in an update; all of them are one minibatch
    horizon: int = 25
    width: int = 128  # of the dense layer and of the recurrent one, and of the critic's two layers
    epochs: int = 4

    @property
    def agent_steps(self) -> int:
        """In one update: each is learned from in every epoch."""
        return self.agents * self.episodes * self.horizon


@dataclass(frozen=True)
class Contestant:
    """A learner, and how its process is started."""

    title: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Times:
    """Medians over a contestant's turns."""

    title: str
    update_seconds: float
    learning_seconds: float

    @property
    def playing_seconds(self) -> float:
        return self.update_seconds - self.learning_seconds


def contestants(peers_python: Path) -> list[Contestant]:
    """Ours in compiled and in original worlds, then the peers."""
    if not peers_python.exists():
        raise BadInput(f"{peers_python} is not there: `make peers` sets up the peers' own environment")
    ours = (*PYTHON, "-m", "pc3d.benchmark.peers.with_pc3d")
    theirs = {"BenchMARL": "with_benchmarl.py", "XuanCe": "with_xuance.py"}
    return [
        Contestant("pc3d", (*ours, "port")),
        Contestant("pc3d (mpe2)", (*ours, "original")),
        *(
            Contestant(title, (str(peers_python), "-P", str(FOLDER / script)))
            for title, script in theirs.items()
        ),
    ]


def measure_peers(work: Work, entrants: Sequence[Contestant], turns: int) -> list[Times]:
    """Everybody's medians of so many turns, one after the other in each, all on one core."""
    with one_core(), ExitStack() as stack:
        learners = [stack.enter_context(_started(each, work)) for each in entrants]
        # Everybody's first update compiles and fills caches.
        answers = [[_turn(learner) for learner in learners] for _ in range(turns + 1)][1:]
    return [
        Times(
            entrant.title,
            median(turn[number]["seconds"] for turn in answers),
            median(turn[number]["learning"] for turn in answers),
        )
        for number, entrant in enumerate(entrants)
    ]


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this process and those it starts on one core, so that no learner has a second one's help."""
    if not hasattr(os, "sched_setaffinity"):  # only Linux has it; threads are limited everywhere
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@dataclass(frozen=True)
class _Learner:
    title: str
    process: subprocess.Popen[str]

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise Pc3dError(f"{self.title} ended with code {self.process.wait()} instead of an answer")
        answered: dict[str, Any] = json.loads(line)
        return answered


@contextmanager
def _started(entrant: Contestant, work: Work) -> Iterator[_Learner]:
    words = [*entrant.words, json.dumps(asdict(work))]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    with subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment_of_child(**threads),
    ) as process:
        learner = _Learner(entrant.title, process)
        try:
            learner.answer()
            yield learner
        finally:
            process.kill()


def _turn(learner: _Learner) -> dict[str, Any]:
    print("go", file=learner.process.stdin, flush=True)
    return learner.answer()
