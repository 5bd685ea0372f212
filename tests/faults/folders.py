"""A finished, evaluated run as pc3d leaves it, made without training: faults only need its files."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from pc3d.evaluation.evaluation_file import write_evaluation
from pc3d.experiment.experiment import Experiment
from pc3d.learners.algorithm import Learner
from pc3d.learners.registry import algorithm_of
from pc3d.networks.build import PolicyNetworks
from pc3d.play.arena import CompiledArena
from pc3d.runs.checkpoint import save_tree
from pc3d.runs.metrics import LineFile
from pc3d.runs.run_folder import RunFolder, policy_description
from pc3d.system.versions import versions
from pc3d.tasks.make import make_game
from tests.small import small_experiment

UPDATES = (5, 10)  # of the two checkpoints
NOTHING_GATHERED = {"sums": {}, "returns": {}}
# `experiment_for` in the words of the command line, but for its length.
OPTIONS = (
    "--actor.widths 16 12 --actor.rnn-dim 10 --critic.widths 16 --critic.set-embed-dim 8 "
    "--critic.set-encoder-widths 16 --critic.tokens 3 --recipe.environments 1 "
    "--ppo.update-every-episodes 3 --ppo.batch-size 2 --ppo.epochs 2"
)


def experiment_for(method: str = "pc3d", task: str = "spread", **changes: Any) -> Experiment:
    return small_experiment(method, task, **{"episodes": 30, **changes})


def train_words(folder: Path, *more: str) -> list[str]:
    """The command that trains it."""
    words = ["train", "spread", "pc3d", "--folder", str(folder), "--episodes", "30"]
    return [*words, *OPTIONS.split(), *more]


@functools.cache
def shapes_of(experiment: Experiment) -> Learner:
    """What a learner of the experiment is made of; no array of it is made."""
    return jax.eval_shape(lambda: algorithm_of(experiment).fresh(experiment, make_game(experiment)))


def learner_of(experiment: Experiment, update: int) -> Learner:
    """A learner whose numbers tell at which update it was saved."""
    shapes = shapes_of(replace(experiment, seed=0))
    return jax.tree.map(lambda leaf: np.full(leaf.shape, update, leaf.dtype), shapes)


def policy_of(experiment: Experiment, update: int) -> PolicyNetworks:
    """What such a learner would leave."""
    return algorithm_of(experiment).policy(learner_of(experiment, update))


def arena_of(experiment: Experiment) -> CompiledArena:
    """Where it is trained."""
    return CompiledArena(make_game(experiment))


def describe(experiment: Experiment, kind: str = "checkpoint", **more: Any) -> dict[str, Any]:
    about = policy_description(experiment, make_game(experiment).return_definition)
    return {**about, "kind": kind, "gathering": NOTHING_GATHERED, **more}


def save(run: RunFolder, experiment: Experiment, update: int) -> None:
    run.save_checkpoint(update, learner_of(experiment, update), describe(experiment))


def made_run(path: Path, experiment: Experiment | None = None) -> RunFolder:
    """All files of a run with two checkpoints that has ended and was scored."""
    experiment = experiment or experiment_for()
    task, run = make_game(experiment), RunFolder(path)
    run.create()
    run.adopt(experiment, {"return_definition": task.return_definition, "versions": versions()})
    metrics = LineFile(run.metrics)
    for update in range(1, UPDATES[-1] + 1):
        positions = {"update": update, "episodes": 3 * update, "stage": 1}
        metrics.append({**positions, "return": -1.0, "return_by_size": {"2": [3, -1.0]}})
    LineFile(run.clock).append({"updates": UPDATES[-1], "seconds": 1.5})
    LineFile(run.evaluations).append({"update": 5, "episodes": 15, "return_by_size": {"2": -1.0}})
    for update in UPDATES:
        save(run, experiment, update)
    policy = describe(experiment, "policy")
    del policy["gathering"]
    save_tree(run.final, policy_of(experiment, UPDATES[-1]), policy)
    run.finish({"episodes": experiment.episodes, "updates": experiment.updates})
    _evaluate(run, experiment)
    return run


def _evaluate(run: RunFolder, experiment: Experiment) -> None:
    (run.path / "replays").mkdir()
    named = {"task": experiment.task, "method": experiment.method, "seed": experiment.seed, "team_size": 2}
    played = {"split": "train", "rollout": 0, "return": -2.5, "reward": [-2.5], "world": {}}
    (run.path / "replays" / "size-2.json").write_text(json.dumps({"format": 1, **named, **played}))
    (run.path / "context.json").write_text(json.dumps({"rollouts": 8, "by_size": {}}))
    rows = [
        f"{experiment.task},{experiment.method},{experiment.seed},train,{size},0,-{size}.5"
        for size in experiment.rosters.all
    ]
    scores = ("task,method,seed,split,team_size,rollout,return\n" + "\n".join(rows) + "\n").encode()
    write_evaluation(run.path, {"format": 1, "rollouts": 1, "backend": "jax"}, scores)
    (run.path / "scores.csv").write_bytes(scores)
