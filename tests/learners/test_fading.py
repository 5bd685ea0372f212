"""A distillation that fades out: its weight over a run, by every algorithm that distils."""

from dataclasses import replace

import jax.numpy as jnp
import pytest

from pc3d.learners.ppo.settings import ppo_of
from tests.learners import played as replayed
from tests.learners.ppo import test_objective as on_policy
from tests.small import one_of_each_kind, small_experiment

WEIGHT = 0.5


def learned(method, share_played, *, fades):
    """What an update says of its losses, after so much of a run."""
    on = method in ("pc3d", "pc3d-happo")
    if on:
        experiment = small_experiment(method)
        learner, episodes = on_policy.played(experiment)
    else:
        experiment, learner, episodes = replayed.played(method)
    distillation = replace(experiment.distillation, weight=WEIGHT, fades=fades)
    experiment = replace(experiment, distillation=distillation)
    learner = replace(learner, update=jnp.asarray(int(share_played * experiment.updates)))
    learn = on_policy.learn if on else replayed.learn
    key = (on_policy.jax.random.key(0),) if on else ()
    _, lesson = learn(experiment, learner, episodes, *key)
    return experiment, lesson.scalars


@pytest.mark.parametrize("fades", [True, False])
@pytest.mark.parametrize("method", one_of_each_kind(["pc3d", "pc3d-happo", "pc3d-qmix", "pc3d-masac"]))
def test_the_weight_of_distillation_falls_to_zero_only_if_it_fades(method, fades):
    for share in (0.0, 0.75):
        experiment, scalars = learned(method, share, fades=fades)
        others = scalars["loss_value"]
        if method in ("pc3d", "pc3d-happo"):
            ppo = ppo_of(experiment)
            others = others * ppo.value_coefficient - scalars["entropy"] * ppo.entropy_coefficient
        others = others + scalars.get("loss_policy", 0.0)
        weighed = float((scalars["loss_total"] - others) / scalars["loss_distillation"])
        left = 1 - int(share * experiment.updates) / experiment.updates
        assert weighed == pytest.approx(WEIGHT * (left if fades else 1), rel=1e-3)
