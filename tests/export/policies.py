"""Small policies whose every part matters, as files: fresh ones hardly use their gates and contexts."""

import importlib.util
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType

import equinox as eqx
import jax

from pc3d.experiment.experiment import Experiment
from pc3d.export.description import describe
from pc3d.export.graph import onnx_model
from pc3d.export.plain_actor import plain_actor
from pc3d.learners.registry import algorithm_of
from pc3d.runs.checkpoint import save_tree
from pc3d.runs.policy import Policy
from pc3d.runs.run_folder import policy_description
from pc3d.tasks.make import make_game
from tests.small import small_experiment

EXAMPLES = Path(__file__).parents[2] / "examples"


def write_policy(path: Path, experiment: Experiment, favourite: int | None = None) -> Policy:
    """A policy file as training leaves it, without the training; it may have a favourite action."""
    task = make_game(experiment)
    algorithm = algorithm_of(experiment)
    networks = perturbed(algorithm.policy(algorithm.fresh(experiment, task)))
    if favourite is not None:
        bias = networks.actor.conditioning.head.bias.at[favourite].add(3)
        networks = eqx.tree_at(lambda networks: networks.actor.conditioning.head.bias, networks, bias)
    save_tree(path, networks, policy_description(experiment, task.return_definition))
    return Policy(path, experiment, task, networks)


def small_policy(path: Path, task: str, method: str, favourite: int | None = None) -> Policy:
    """With a range of reliance so narrow that its limits are met."""
    experiment = small_experiment(method, task)
    narrow = replace(experiment.distillation, reliance_min=-0.4, reliance_max=0.5)
    return write_policy(path, replace(experiment, distillation=narrow), favourite)


def as_onnx(policy: Policy, *, int8: bool = False) -> bytes:
    actor = plain_actor(policy.actor, masked=policy.task.action_space.masked)
    return onnx_model(actor, describe(policy, actor), int8=int8)


@cache
def example(name: str) -> ModuleType:
    """An example as a module, to try its parts."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def perturbed(networks):
    leaves, structure = jax.tree.flatten(networks)
    keys = jax.random.split(jax.random.key(7), len(leaves))
    return jax.tree.unflatten(structure, [_noisy(key, leaf) for key, leaf in zip(keys, leaves, strict=True)])


def _noisy(key, leaf):
    size = 1.5 * leaf.shape[0] ** -0.5 if leaf.ndim == 2 else 0.3
    return leaf + size * jax.random.normal(key, leaf.shape)
