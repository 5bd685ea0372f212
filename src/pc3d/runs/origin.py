"""Beginning a run with the policy of another one, in the place of fresh weights."""

import jax
import numpy as np

from pc3d.experiment.experiment import Experiment, Origin
from pc3d.learners.algorithm import Learner
from pc3d.learners.registry import algorithm_of
from pc3d.networks.build import PolicyNetworks
from pc3d.runs.checkpoint import named_arrays
from pc3d.runs.policy import Policy
from pc3d.system.errors import BadInput
from pc3d.system.files import LARGEST_DIGESTED, digest_of, read_bytes


def origin_of(policy: Policy) -> Origin:
    """What an experiment says of the policy that its run begins with."""
    of = policy.experiment
    digest = digest_of(read_bytes(policy.path, LARGEST_DIGESTED))
    return Origin(digest, of.task, of.method, of.seed, of.episodes)


def begun_with(learner: Learner, experiment: Experiment, policy: Policy | None) -> Learner:
    """The fresh learner of an experiment, with the policy that the experiment names as its origin."""
    if experiment.origin is None:
        return learner
    if policy is None or origin_of(policy) != experiment.origin:
        raise BadInput(
            f"this run begins with a policy of {experiment.origin.task} {experiment.origin.method} seed "
            f"{experiment.origin.seed}: name it again with --from"
        )
    algorithm = algorithm_of(experiment)
    return algorithm.begun_with(learner, _fitting(policy, algorithm.policy(learner)))


def _fitting(policy: Policy, like: PolicyNetworks) -> PolicyNetworks:
    """The policy's numbers in networks of this run; a teacher only where this run has one, too."""
    given, wanted = named_arrays(policy.networks), named_arrays(like)
    teacher = [name for name in wanted if name.startswith("teacher.")]
    if any(name not in given or given[name].shape != wanted[name].shape for name in teacher):
        given |= {name: wanted[name] for name in teacher}  # one that reads otherwise has nothing to pass on
    for name in sorted({*wanted, *(name for name in given if name.startswith("actor."))}):
        found, needed = (_shape(arrays.get(name)) for arrays in (given, wanted))
        if found != needed:
            raise BadInput(
                f"{policy.path} does not fit this run: {name} is {found} in it, not {needed}; "
                "observations, actions, conditioning and the actor's settings must be the same"
            )
    return jax.tree.unflatten(jax.tree.structure(like), [given[name] for name in wanted])


def _shape(array: np.ndarray | None) -> str:
    return "missing" if array is None else str(list(array.shape))
