"""A distillation that fades: its weight over a run, by every algorithm that distils."""

from dataclasses import replace

import jax.numpy as jnp
import pytest

from pc3d.learners.ppo.settings import ppo_of
from tests.learners import played as replayed
from tests.learners.ppo import test_objective as on_policy
from tests.small import one_of_each_kind, small_experiment

WEIGHT = 0.5


def learned(method, share_played, final_share):
    """What an update says of its losses, after so much of a run."""
    on = method in ("pc3d", "pc3d-happo")
    if on:
        experiment = small_experiment(method)
        learner, episodes = on_policy.played(experiment)
    else:
        experiment, learner, episodes = replayed.played(method)
    distillation = replace(experiment.distillation, weight=WEIGHT, final_share=final_share)
    experiment = replace(experiment, distillation=distillation)
    learner = replace(learner, update=jnp.asarray(int(share_played * experiment.updates)))
    learn = on_policy.learn if on else replayed.learn
    key = (on_policy.jax.random.key(0),) if on else ()
    _, lesson = learn(experiment, learner, episodes, *key)
    return experiment, lesson.scalars


@pytest.mark.parametrize("final", [1.0, 0.25, 0.0])
@pytest.mark.parametrize("method", one_of_each_kind(["pc3d", "pc3d-happo", "pc3d-qmix", "pc3d-masac"]))
def test_the_weight_of_distillation_falls_to_its_final_share(method, final):
    for share in (0.0, 0.75):
        experiment, scalars = learned(method, share, final)
        others = scalars["loss_value"]
        if method in ("pc3d", "pc3d-happo"):
            ppo = ppo_of(experiment)
            others = others * ppo.value_coefficient - scalars["entropy"] * ppo.entropy_coefficient
        others = others + scalars.get("loss_policy", 0.0)
        weighed = float((scalars["loss_total"] - others) / scalars["loss_distillation"])
        left = 1 - int(share * experiment.updates) / experiment.updates
        assert weighed == pytest.approx(WEIGHT * (left + (1 - left) * final), rel=1e-3)
