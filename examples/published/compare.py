"""What a study of Spread with three agents came to, in the unit of published tables.

    python compare.py runs/studies/published

There, rewards are summed over agents, each agent also collides with itself, and the sum is divided by three.
An episode with a return R and P colliding pairs here is worth 3 R + P - 75 there. Evaluations on the way do
not tell P; they are worth at least what they would be without collisions.
"""

import csv
import json
import sys
from collections import defaultdict
from pathlib import Path
from statistics import mean

# Maxima over training, means of five seeds: Papoudakis and others 2021 (arXiv 2006.07869), shared parameters.
PUBLISHED = {"mappo": -133.54, "vdn": -131.03, "qmix": -126.62}
OWN_COLLISIONS = 75  # three agents, 25 steps
AGENTS = 3


def worth(returns: float, pairs: float) -> float:
    return AGENTS * returns + pairs - OWN_COLLISIONS


def at_the_end(run: Path) -> float:
    with open(run / "scores.csv", newline="") as file:
        return mean(
            worth(float(row["return"]), float(row["colliding_pairs"])) for row in csv.DictReader(file)
        )


def best_on_the_way(run: Path) -> float:
    lines = (run / "evaluations.jsonl").read_text().splitlines()
    return max(worth(json.loads(line)[f"return_mean_{AGENTS}"], 0.0) for line in lines)


def main(folder: Path) -> None:
    found = defaultdict(list)
    for run in sorted(folder.glob(f"spread/*/size-{AGENTS}/seed-*")):
        if (run / "scores.csv").exists() and (run / "evaluations.jsonl").exists():
            found[run.parts[-3]].append((at_the_end(run), best_on_the_way(run)))
    print("method, seeds, at the end, best on the way (at least), published maximum")
    for method, seeds in found.items():
        end, best = (mean(part) for part in zip(*seeds, strict=True))
        print(f"{method}, {len(seeds)}, {end:.1f}, {best:.1f}, {PUBLISHED.get(method, 'none')}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
