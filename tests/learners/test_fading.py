"""A distillation that fades: its weight over a run, by every algorithm that distils."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from pc3d.learners.registry import algorithm_of
from tests.learners import played as replayed
from tests.learners.ppo import test_objective as on_policy
from tests.small import one_of_each_kind, small_experiment

WEIGHT = 0.5
ON_POLICY = ("pc3d", "pc3d-happo")


def begun(method):
    """An experiment, a learner at three quarters of its run, and episodes to learn from."""
    if method in ON_POLICY:
        experiment = small_experiment(method)
        learner, episodes = on_policy.played(experiment)
    else:
        experiment, learner, episodes = replayed.played(method)
    update = int(0.75 * experiment.updates)
    return experiment, replace(learner, update=jnp.asarray(update)), episodes, 1 - update / experiment.updates


def learned(begun, weight, final_share):
    """All parameters after one update."""
    experiment, learner, episodes, _ = begun
    distillation = replace(experiment.distillation, weight=weight, final_share=final_share)
    experiment = replace(experiment, distillation=distillation)
    task = on_policy.TASK if experiment.method in ON_POLICY else replayed.TASK
    learn = jax.jit(algorithm_of(experiment).learn, static_argnums=(0, 1))
    after, _ = learn(experiment, task, learner, episodes, jax.random.key(0))
    return np.asarray(ravel_pytree(after.networks)[0])


@pytest.mark.parametrize("method", one_of_each_kind([*ON_POLICY, "pc3d-qmix", "pc3d-masac"]))
def test_late_in_a_run_distillation_weighs_what_is_left_of_it(method):
    start = begun(method)
    left = start[-1]
    assert 0 < left < 0.5
    faded = learned(start, WEIGHT, 0.25)
    np.testing.assert_allclose(faded, learned(start, WEIGHT * (0.25 + 0.75 * left), 1.0), atol=1e-6)
    assert np.abs(faded - learned(start, WEIGHT, 1.0)).max() > 1e-5
