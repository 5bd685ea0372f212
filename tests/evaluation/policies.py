"""Small policies that act on what they see, as loaded policies and as finished runs.

Tests share them and, where they can, a world three agents wide with four rollouts: most of the time of a
test is spent on compiling.
"""

from functools import cache
from pathlib import Path

import equinox as eqx

from pc3d.evaluation.recording import Recording, record
from pc3d.learners.registry import algorithm_of
from pc3d.networks.build import PolicyNetworks
from pc3d.play.arena import CompiledArena
from pc3d.play.starts import rollout_keys
from pc3d.runs.checkpoint import save_tree
from pc3d.runs.policy import Policy
from pc3d.runs.run_folder import RunFolder, policy_description
from pc3d.tasks.make import make_task
from tests.small import small_experiment

DECISIVE = 300  # a fresh head is nearly uniform: its actions would hardly depend on the observations


@cache
def small_policy(task: str = "spread", method: str = "pc3d") -> Policy:
    experiment = small_experiment(method, task)
    world = make_task(experiment)
    return Policy(Path("nowhere"), experiment, world, _networks(experiment, world))


@cache
def recorded(task: str, team_size: int) -> Recording:
    """One episode in the widest world: one program for all sizes of a task."""
    policy = small_policy(task)
    arena = CompiledArena(policy.task)
    return record(arena, policy.networks, rollout_keys(team_size, 1), team_size).one(0)


def finished_run(folder: Path, task: str = "spread", method: str = "pc3d", **changes) -> RunFolder:
    """A run folder as training leaves it, without the training."""
    experiment = small_experiment(method, task, **changes)
    world = make_task(experiment)
    run = RunFolder(folder)
    run.create()
    run.adopt(experiment, {"return_definition": world.return_definition})
    run.metrics.write_text("")
    save_tree(
        run.final, _networks(experiment, world), policy_description(experiment, world.return_definition)
    )
    run.finish({"episodes": 0})
    return run


def _networks(experiment, world) -> PolicyNetworks:
    algorithm = algorithm_of(experiment)
    networks = algorithm.policy(algorithm.fresh(experiment, world))
    return eqx.tree_at(
        lambda networks: networks.actor.conditioning.head.weight,
        networks,
        replace_fn=lambda weight: weight * DECISIVE,
    )
