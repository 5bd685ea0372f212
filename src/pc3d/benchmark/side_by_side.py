"""Two runs on two cores: how much of the scaling of plain matrix products do they keep?

`python -m pc3d.benchmark.side_by_side KIND SECONDS` is one of the processes: it says when it is ready, waits
for a word, does as much work as it can in that time, and prints how much it did per second.
"""

import subprocess
import sys
import time
from dataclasses import dataclass

import jax

from pc3d.benchmark.training import Beginning, matrix_product
from pc3d.presets.paper import paper
from pc3d.system.processes import PYTHON

SECONDS = 10.0


@dataclass(frozen=True)
class Scaling:
    """How many times the work of one process two of them do."""

    matrix: float
    update: float

    @property
    def kept(self) -> float:
        return self.update / self.matrix


def measure_scaling(seconds: float = SECONDS) -> Scaling:
    """Two processes against one, at each kind of work, all within the same minute."""
    return Scaling(*(_rate(kind, 2, seconds) / _rate(kind, 1, seconds) for kind in ("matrix", "update")))


def _rate(kind: str, processes: int, seconds: float) -> float:
    """The sum of what that many processes do per second, started at the same moment."""
    words = [*PYTHON, "-m", "pc3d.benchmark.side_by_side", kind, str(seconds)]
    workers = [
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    for worker in workers:
        assert worker.stdout is not None
        worker.stdout.readline()
    for worker in workers:
        print("go", file=worker.stdin, flush=True)
    return sum(float(worker.communicate()[0]) for worker in workers)


def _work(kind: str, seconds: float) -> None:
    # PC3D's update on Spread, in the last stage.
    work = matrix_product() if kind == "matrix" else Beginning.of(paper("spread", "pc3d"), 3).update
    jax.block_until_ready(work())
    print("ready", flush=True)
    sys.stdin.readline()
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        jax.block_until_ready(work())
        done += 1
    print(done / (time.perf_counter() - start))


if __name__ == "__main__":
    _work(sys.argv[1], float(sys.argv[2]))
