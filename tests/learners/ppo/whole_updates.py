"""Some updates of a small learner from its beginning: for methods that are another one with a setting."""

from dataclasses import replace

import jax
import numpy as np

from pc3d.learners.registry import algorithm_of
from pc3d.learners.round import EpisodeBatch, play_and_learn
from pc3d.play.arena import CompiledArena
from pc3d.tasks.spread.world import Spread
from tests.small import small_experiment


def after_updates(method, **changes):
    """The learner after three updates, and what the last one came to."""
    experiment = small_experiment(method, episodes=9)
    experiment = replace(experiment, algorithm=replace(experiment.algorithm, **changes))
    arena = CompiledArena(Spread(3))
    learner = algorithm_of(experiment).fresh(experiment, arena.game)
    for update in range(experiment.updates):
        batch = EpisodeBatch.of(0, experiment.episodes_of_update(update), np.array([1, 3, 2]))
        learner, report = play_and_learn(experiment, arena, learner, batch)
    return learner, report.lesson.scalars


def assert_same_bits(one, other):
    assert one[1].keys() == other[1].keys()
    for mine, theirs in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_array_equal(mine, theirs)
