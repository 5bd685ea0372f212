"""`python -m tests.faults.soak --hours 2`: one long training; its memory and its speed must stay flat.

After warming up, memory may grow by a stated number of megabytes an hour, and the last quarter may be slower
than the first by a stated share. Speed is per second of processor time, so that other work on the machine
does not count as slowing down. Exit code 1 if not.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pc3d.runs.metrics import read_lines

WARM_UP = 0.25  # of the time: all is compiled and evaluated once, and the allocator has found its size
MOST_GROWTH = 20.0  # megabytes an hour
MOST_SLOWING = 0.15  # of the speed in the first quarter after warming up; caches are shared with other work
SECONDS_TO_STOP = 120


@dataclass(frozen=True)
class Sample:
    """What a process held, and had done, at a moment."""

    seconds: float
    processor_seconds: float
    megabytes: float
    open_files: int
    episodes: int

    def __str__(self) -> str:
        return (
            f"{self.seconds:6.0f} s {self.processor_seconds:6.0f} s of a processor {self.megabytes:8.1f} MB "
            f"{self.open_files:4d} open files {self.episodes:10,d} episodes"
        )


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        samples = watch(Path(folder), 3600 * options.hours, options.every)
    return judge([one for one in samples if one.seconds >= WARM_UP * samples[-1].seconds and one.episodes])


def watch(folder: Path, seconds: float, every: float) -> list[Sample]:
    """Train for so long and look every few seconds."""
    run = folder / "run"
    process = subprocess.Popen([*TRAINING, "--folder", str(run)], stdout=subprocess.DEVNULL)
    samples, began = [], time.monotonic()
    try:
        while time.monotonic() - began < seconds:
            time.sleep(every)
            if process.poll() is not None:
                sys.exit(f"the training ended by itself, with code {process.returncode}")
            samples.append(_sample(process.pid, run, time.monotonic() - began))
            print(samples[-1], flush=True)
    finally:
        process.terminate()
        process.wait(SECONDS_TO_STOP)
    return samples


# Only the last stage: one program is compiled. The budget is never reached.
TRAINING = [
    *(sys.executable, "-m", "pc3d", "train", "spread", "pc3d", "--episodes", "100000000"),
    *("--curriculum.stages.0.fraction", "1e-9", "--curriculum.stages.1.fraction", "1e-9"),
    *("--curriculum.stages.2.fraction", "1e-9", "--curriculum.stages.3.fraction", "0.999999997"),
    *("--log-every", "1", "--evaluate-every", "2000"),
]


def judge(samples: list[Sample]) -> int:
    """Print the slopes and say whether they are flat enough."""
    if len(samples) < 4:
        sys.exit("too few samples after warming up: give it more --hours")
    growth = 3600 * slope(samples, "megabytes")
    quarter = len(samples) // 4
    early, late = samples[: quarter + 1], samples[-quarter - 1 :]
    # The least of each part, since a save opens one more for a moment.
    held, still_held = (min(one.open_files for one in part) for part in (early, late))
    first, last = speed(early), speed(late)
    slowing = 1 - last / first
    print(f"memory: {samples[-1].megabytes:.0f} MB, {growth:+.1f} MB an hour (at most {MOST_GROWTH:+g})")
    print(f"open files: {still_held}, {still_held - held:+d} since warming up")
    print(
        f"speed: {first:.1f} episodes per processor second in the first quarter, {last:.1f} in the last "
        f"({-slowing:+.0%}, at least {-MOST_SLOWING:.0%})"
    )
    flat = growth <= MOST_GROWTH and slowing <= MOST_SLOWING and still_held <= held
    print("flat" if flat else "not flat")
    return 0 if flat else 1


def slope(samples: list[Sample], name: str) -> float:
    """Of the straight line nearest to the samples, per second."""
    times = [one.seconds for one in samples]
    return float(np.polyfit(times, [getattr(one, name) for one in samples], 1)[0])


def speed(samples: list[Sample]) -> float:
    """Episodes per second of processor time, from the first of some samples to the last."""
    first, last = samples[0], samples[-1]
    return (last.episodes - first.episodes) / (last.processor_seconds - first.processor_seconds)


def _sample(process: int, run: Path, seconds: float) -> Sample:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    files = len(os.listdir(f"/proc/{process}/fd"))
    times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]  # user, system
    used = sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
    return Sample(seconds, used, pages * os.sysconf("SC_PAGE_SIZE") / 2**20, files, _episodes(run))


def _episodes(run: Path) -> int:
    """So far, from the last whole line of the metrics."""
    lines = read_lines(run / "metrics.jsonl")
    return int(lines[-1]["episodes"]) if lines else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="one long training; its memory and speed must stay flat")
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--every", type=float, default=None, help="seconds between two looks; 30, or fewer")
    options = parser.parse_args()
    options.every = options.every or min(30.0, 3600 * options.hours / 40)
    return options


if __name__ == "__main__":
    sys.exit(main())
