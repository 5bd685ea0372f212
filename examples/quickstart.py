"""Train PC3D on Spread for a moment, then let it play with team sizes it has never met.

The budget is a fiftieth of the paper's and only small teams train: it shows that all works, not how well.
"""
# ruff: noqa: E402  (threads are pinned before anything imports JAX)

from pc3d.system import threads

threads.pin()

from dataclasses import replace
from tempfile import mkdtemp

from pc3d.presets import paper as experiments
from pc3d.play.scores import returns_by_size
from pc3d.runs.metrics import read_lines
from pc3d.runs.policy import load_policy
from pc3d.experiment.rosters import Curriculum, Stage
from pc3d.runs.train import train

experiment = experiments.paper("spread", "pc3d", seed=0, episodes=400)

# One stage instead of the paper's four: every team width is compiled by itself, and that takes its time.
small_teams = Curriculum((Stage(1.0, team_sizes=(1, 2, 4), probabilities=(0.2, 0.3, 0.5)),))
run = train(replace(experiment, curriculum=small_teams), folder=mkdtemp())

last = read_lines(run.metrics)[-1]
print(f"after {last['episodes']} episodes: entropy {last['entropy']:.2f}, gate {last['gate']:.2f}")

policy = load_policy(run.path)
print(f"return: {policy.task.return_definition}")
for size, returns in returns_by_size(policy.task, policy.actor, (3, 5, 10), rollouts=32).items():
    print(f"{size:2} agents, a size never trained on: {returns.mean():.1f} on average")
