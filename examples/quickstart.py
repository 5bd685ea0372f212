"""Train PC3D on Spread for a moment, then let it play with team sizes it has never met.

The budget is a hundredth of the paper's and only small teams train: it shows that all works, not how well.
"""

from dataclasses import replace
from tempfile import mkdtemp

import pc3d
from pc3d.evaluation.run import EvaluationSettings
from pc3d.experiment.rosters import Curriculum, Stage
from pc3d.runs.metrics import read_lines

experiment = pc3d.paper("spread", "pc3d", seed=0, episodes=128)

# One stage instead of the paper's four: every team width is compiled by itself, and that takes its time.
small_teams = Curriculum((Stage(1.0, team_sizes=(1, 2, 4), probabilities=(0.2, 0.3, 0.5)),))
run = pc3d.train(replace(experiment, curriculum=small_teams), mkdtemp())

last = read_lines(run.metrics)[-1]
print(f"after {last['episodes']} episodes: entropy {last['entropy']:.2f}, gate {last['gate']:.2f}")

policy = pc3d.load(run.path)
print(f"return: {policy.task.return_definition}")
settings = EvaluationSettings(rollouts=32)
for size, returns in pc3d.evaluate(policy, team_sizes=(3, 5, 10), settings=settings).items():
    print(f"{size:2} agents, a size never trained on: {returns.mean():.1f} on average")
