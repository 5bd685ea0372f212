"""Episodes of tiny teams, and learners with a slow copy to learn from them, for algorithms with a replay."""

from dataclasses import replace
from functools import lru_cache, partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from pc3d.learners.registry import algorithm_of
from pc3d.learners.value_scale import ValueScale
from pc3d.play.loop import play
from pc3d.play.worlds import TaskWorlds
from pc3d.tasks.spread.world import Spread
from tests.small import small_experiment

TASK = Spread(5)
SIZES = np.array([1, 3, 5, 2])
CENTER, DEVIATION = -0.7, np.sqrt(2.0 - 0.7**2)
SCALE = ValueScale(jnp.asarray(1.0), jnp.asarray(CENTER), jnp.asarray(2.0))
compiled_play = jax.jit(play, static_argnums=0)


@lru_cache
def played(method):
    """An experiment, a learner whose slow copy differs from its networks, and some episodes."""
    usual = small_experiment(method)
    # Targets of one step; traces have tests of their own.
    experiment = replace(usual, algorithm=replace(usual.algorithm, trace=0.0))
    algorithm = algorithm_of(experiment)
    learner = algorithm.fresh(experiment, Spread(10))
    slow = jax.tree.map(lambda leaf: leaf * 1.3 - 0.02, learner.networks)
    learner = eqx.tree_at(lambda learner: learner.slow, learner, slow)
    keys = jax.random.split(jax.random.key(1), len(SIZES))
    return (
        experiment,
        learner,
        compiled_play(TaskWorlds(TASK), algorithm.team(experiment, learner), keys, SIZES),
    )


@partial(jax.jit, static_argnums=0)
def learn(experiment, learner, episodes):
    return algorithm_of(experiment).learn(experiment, TASK, learner, episodes, jax.random.key(0))


def with_garbage(episodes):
    """The same with nonsense wherever nobody is."""
    return replace(
        episodes,
        observations=jnp.where(episodes.present[..., None], episodes.observations, jnp.nan),
        actions=jnp.where(episodes.present[:, :-1], episodes.actions, 77),
    )


def largest(tree):
    return max(float(jnp.max(jnp.abs(leaf))) for leaf in jax.tree.leaves(tree))
