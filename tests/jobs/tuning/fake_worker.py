"""Stands in for a trial's worker: the same files, from a formula instead of a training, at once.

The best learning rate is 1e-3. The environment variable FAKE makes it die, diverge, fail, or take its time.
"""

import json
import math
import os
import signal
import sys
import time
import tomllib
from pathlib import Path

PAPERS_RATE = 1.84e-3  # MAPPO on Spread: what a preset without a rate means


def main(folder: Path, episodes: int) -> int:
    mode = os.environ.get("FAKE", "")
    with open(folder / "preset.toml", "rb") as file:
        rate = tomllib.load(file).get("ppo", {}).get("learning_rate", PAPERS_RATE)
    value = -abs(math.log10(rate) + 3)
    mark = folder / "begun"
    first = not mark.exists()
    mark.write_text("yes")
    if mode == "die once" and first:
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "diverge":
        return 3
    if mode == "fail":
        print("pc3d: the disk is full", file=sys.stderr)
        return 2
    seed = folder / "seed-1000"
    seed.mkdir(exist_ok=True)
    with open(seed / "evaluations.jsonl", "w") as file:
        for step in range(1, 11):
            returns = dict.fromkeys(("1", "2", "3", "4", "5", "6", "7", "8"), value)
            line = {"update": step, "episodes": step * episodes // 10, "return_by_size": returns}
            file.write(json.dumps(line) + "\n")
            file.flush()
            time.sleep(float(os.environ.get("FAKE_SECONDS", "0")))
    (folder / "score.json").write_text(json.dumps({"train": value + 1, "validation": value}))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[3])))
