"""Ours, for `pc3d benchmark peers`: `python -m pc3d.benchmark.peers.with_pc3d port|original WORK`."""

import json
import sys
import time
from dataclasses import replace

import jax

from pc3d.benchmark.peers.work import Work
from pc3d.benchmark.training import small_case, usual_batch
from pc3d.experiment.experiment import Experiment
from pc3d.learners.registry import algorithm_of
from pc3d.learners.round import learn_from, play_round
from pc3d.play.opening import open_arena


def experiment_of(work: Work) -> Experiment:
    """Recurrent MAPPO of the work's widths and epochs; all else is as in the paper's Spread."""
    experiment = small_case(work.episodes, "mappo", work.agents, work.width, work.epochs)
    return replace(experiment, critic=replace(experiment.critic, widths=(work.width, work.width)))


def main(world: str, work: Work) -> None:
    experiment = experiment_of(work)
    batch, learn = usual_batch(experiment, 0), jax.jit(learn_from, static_argnums=(0, 1))
    with open_arena(experiment, original=world == "original") as arena:
        learner = algorithm_of(experiment).fresh(experiment, arena.game)
        print(json.dumps({"ready": True}), flush=True)
        for _ in sys.stdin:
            begun = time.perf_counter()
            played = jax.block_until_ready(play_round(experiment, arena, learner, batch))
            collected = time.perf_counter()
            learner, report = learn(experiment, arena.game, learner, batch.seed, played)
            jax.block_until_ready(report)
            ended = time.perf_counter()
            print(json.dumps({"seconds": ended - begun, "learning": ended - collected}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Work(**json.loads(sys.argv[2])))
