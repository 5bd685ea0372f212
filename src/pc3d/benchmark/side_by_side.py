"""Two runs on two cores: how much of the scaling of plain matrix products do they keep?"""

import subprocess
from dataclasses import dataclass

from pc3d.system.processes import PYTHON

SECONDS = 10.0

# What one process does: as much work as it can in some seconds, after a warm-up; prints the amount.
WORK = """
import sys, time
import jax
from pc3d.benchmark.side_by_side import matrix_work, update_work
work = {"matrix": matrix_work, "update": update_work}[sys.argv[1]]()
jax.block_until_ready(work())
print("ready", flush=True)
sys.stdin.readline()
done, start = 0, time.perf_counter()
while time.perf_counter() - start < float(sys.argv[2]):
    jax.block_until_ready(work())
    done += 1
print(done / (time.perf_counter() - start))
"""


@dataclass(frozen=True)
class Scaling:
    """How many times the work of one process two of them do."""

    matrix: float
    update: float

    @property
    def kept(self) -> float:
        return self.update / self.matrix


def measure_scaling(seconds: float = SECONDS) -> Scaling:
    """One process, then two, of each kind of work, all within the same minute."""
    rates = {}
    for kind in ("matrix", "update"):
        alone, together = _rate(kind, 1, seconds), _rate(kind, 2, seconds)
        rates[kind] = together / alone
    return Scaling(**rates)


def matrix_work():  # type: ignore[no-untyped-def]
    """A plain product of the size of the benchmark's matrix rate."""
    import jax
    import jax.numpy as jnp

    from pc3d.benchmark.training import MATRIX

    matrix = jnp.ones((MATRIX, MATRIX))
    product = jax.jit(lambda matrix: matrix @ matrix)
    return lambda: product(matrix)


def update_work():  # type: ignore[no-untyped-def]
    """PC3D's update on Spread, in the last stage."""
    from pc3d.benchmark.training import full_update
    from pc3d.learners.registry import algorithm_of
    from pc3d.play.arena import CompiledArena
    from pc3d.presets.paper import paper
    from pc3d.tasks.make import make_task

    experiment = paper("spread", "pc3d")
    arena = CompiledArena(make_task(experiment)).with_slots(8)
    return full_update(experiment, arena, algorithm_of(experiment).fresh(experiment, arena.game))


def _rate(kind: str, processes: int, seconds: float) -> float:
    """The sum of what that many processes do per second, started at the same moment."""
    workers = [
        subprocess.Popen(
            [*PYTHON, "-c", WORK, kind, str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(processes)
    ]
    for worker in workers:
        assert worker.stdout is not None
        worker.stdout.readline()
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    return sum(float(worker.communicate()[0]) for worker in workers)
