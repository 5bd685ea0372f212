"""Team sizes that the paper has none of, from training to the exported policy, on every task."""

import csv
import shlex

import numpy as np
import pytest

from pc3d.cli import main
from pc3d.export.runtime import OnnxActor, OnnxTeam
from pc3d.play.arena import CompiledArena
from pc3d.play.scores import score
from pc3d.presets.paper import paper
from pc3d.runs.line_contract import read_metrics
from pc3d.runs.policy import load_policy
from tests.faults.tiny_runs import NETWORKS

TRAINED, UNSEEN = 11, 12
SLOW = pytest.mark.slow
# Two short updates of one episode.
SHORT = shlex.split("""
    --episodes 2 --ppo.update-every-episodes 1 --ppo.epochs 1 --ppo.batch-size 1 --horizon 6
""")


@pytest.mark.parametrize("task", ["spread", *(pytest.param(task, marks=SLOW) for task in ("lbf", "rware"))])
def test_sizes_beyond_the_papers_are_trained_scored_watched_and_deployed(task, tmp_path):
    assert paper(task, "pc3d").rosters.largest < TRAINED
    (tmp_path / "rosters.toml").write_text(f"train = [{TRAINED}]\ntest = [{UNSEEN}]\n")
    run, model, film = (tmp_path / name for name in ("run", "policy.onnx", "film.gif"))
    words = ["--rosters", str(tmp_path / "rosters.toml"), "--tensorboard", "False", *NETWORKS, *SHORT]
    assert main(["train", task, "pc3d", "--folder", str(run), *words]) == 0
    assert [list(line["return_by_size"]) for line in read_metrics(run / "metrics.jsonl")] == [["11"]] * 2
    assert main(["evaluate", str(run), "--rollouts", "1", "--context-rollouts", "1"]) == 0
    assert main(["watch", str(run), "--team-size", str(UNSEEN), "--size", "64", "--out", str(film)]) == 0
    assert film.read_bytes().startswith(b"GIF")
    assert main(["export", str(run), str(model)]) == 0
    game, team = load_policy(run).task, OnnxTeam(OnnxActor(model.read_bytes()))
    played = score(CompiledArena(game.with_slots(UNSEEN)), team, UNSEEN, 1).returns
    with open(run / "scores.csv", newline="") as file:
        scored = {row["team_size"]: float(row["return"]) for row in csv.DictReader(file)}
    np.testing.assert_allclose(played, [scored[str(UNSEEN)]], atol=1e-3)
