"""Train PC3D on Spread for a moment, then let it play with team sizes it has never met.

    python examples/quickstart.py [EPISODES]

400 episodes are a fiftieth of the paper's budget: enough to see everything work, not to see it work well.
"""
# ruff: noqa: E402  (threads are pinned before anything imports JAX)

from pc3d import threads

threads.pin()

import sys
import tempfile
from pathlib import Path

import numpy as np

from pc3d import experiments
from pc3d.evaluation.scores import returns_by_size
from pc3d.metrics import read_lines
from pc3d.policy import load_policy
from pc3d.train import train


def main(episodes: int) -> None:
    experiment = experiments.paper("spread", "pc3d", seed=0, episodes=episodes)
    with tempfile.TemporaryDirectory() as scratch:
        run = train(experiment, Path(scratch, "run"))
        last = read_lines(run.metrics)[-1]
        policy = load_policy(run.path)
    print(f"{last['episodes']} episodes; the gate is open by {last['gate']:.2f} on average")
    print(f"return: {policy.task.return_definition}")
    sizes = experiment.rosters.validation + experiment.rosters.test
    for size, returns in returns_by_size(policy.task, policy.actor, sizes, rollouts=32).items():
        print(f"{size:2} agents ({experiment.rosters.split_of(size)}): {np.mean(returns):8.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
