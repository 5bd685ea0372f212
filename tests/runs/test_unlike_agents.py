"""Training with unlike agents: what a run remembers of them, and what its policy sees."""

import numpy as np

from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.play.arena import CompiledArena
from pc3d.runs.policy import load_policy
from pc3d.runs.run_folder import RunFolder
from pc3d.runs.train import train
from pc3d.tasks.make import make_task
from pc3d.tasks.named_mixes import mixes_named
from pc3d.tasks.spread.rules import SpreadRules
from tests.small import small_experiment


def test_a_run_remembers_its_mixes_and_its_policy_sees_capabilities(tmp_path):
    experiment = small_experiment(
        "mappo",
        rosters=Rosters(train=(2, 3)),
        curriculum=Curriculum((Stage(1.0, (2, 3), (0.5, 0.5)),)),
        rules=SpreadRules(horizon=8),
        episodes=6,
        mixes=mixes_named("unlike", "spread"),
    )
    run = train(experiment, CompiledArena(make_task(experiment)), tmp_path)
    assert RunFolder(tmp_path).experiment() == experiment
    policy = load_policy(run.path)
    # In training, only mixes of training.
    assert policy.task.cast.mixes == experiment.mixes.train
    assert policy.task.observation_width == 16 + 4 + 3 * 4
    views = np.zeros((3, policy.task.observation_width), np.float32)
    assert len(policy.players(3).act(views)) == 3
