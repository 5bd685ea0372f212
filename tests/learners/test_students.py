"""What students learn by: a mean over who decided, whatever their number, and over all that was said."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.learners.students import NOTHING, Examples, Student, study, sums_of
from pc3d.networks.build import build_student
from pc3d.play.loop import play
from pc3d.play.worlds import TaskWorlds
from pc3d.tasks.spread.world import Spread
from tests.seams.messengers import Messengers
from tests.small import random_team, small_experiment

EXPERIMENT, TASK = small_experiment("ptde"), Spread(3)
PLAYED = np.array([True, True, True, False])


@pytest.fixture(scope="module")
def actor():
    return build_student(jax.random.key(0), EXPERIMENT, TASK)


@pytest.fixture(scope="module")
def examples():
    """Teams of one, two and three, of whose four steps the last was not played."""
    decisions = jnp.asarray(np.tri(3, dtype=bool)[:, None] & PLAYED[:, None])
    return Examples(random_team(0, 3, 4, 3, 16), None, decisions, random_team(1, 3, 4, 3, 4))


def errors_of(actor, examples):
    """Of each agent alone, step by step."""
    step, found = eqx.filter_jit(actor.step), []
    for episode, agent in np.ndindex(3, 3):
        memory = actor.first_memory()
        for time in range(4):
            memory, said = step(memory, examples.observations[episode, time, agent])
            if examples.decisions[episode, time, agent]:
                found.append(np.mean((np.asarray(said.logits) - examples.said[episode, time, agent]) ** 2))
    return found


def test_the_loss_is_a_mean_over_agents_and_numbers_and_the_variance_that_of_what_should_be_said(
    actor, examples
):
    sums = jax.jit(sums_of)(actor, examples)
    errors = errors_of(actor, examples)
    assert len(errors) == sums.count == 3 * (1 + 2 + 3)
    np.testing.assert_allclose(sums.error / sums.count, np.mean(errors), rtol=1e-5)
    real = np.asarray(examples.said)[np.asarray(examples.decisions)]
    np.testing.assert_allclose(sums.variance, np.mean(np.var(real, axis=0)), rtol=1e-5)


def test_fillers_and_what_the_teacher_says_where_nobody_decides_change_nothing():
    student, keys = Student.fresh(EXPERIMENT, TASK), jax.random.split(jax.random.key(0), 3)
    team = Messengers(TASK.action_count)
    episodes = jax.jit(lambda keys: play(TaskWorlds(TASK), team, keys, jnp.array([1, 2, 3])))(keys)

    def ask(some, elsewhere):
        decisions = some.present[:, :-1] & some.played[:, :, None]
        said = jnp.where(decisions[..., None], some.observations[:, :-1, :, :4], elsewhere)
        return Examples(some.observations[:, :-1], None, decisions, said)

    @jax.jit
    def run(numbers, elsewhere):
        told, rate = (lambda some: ask(some, elsewhere)), jnp.asarray(1e-3)
        return study(EXPERIMENT, student, told, episodes, numbers, rate, longest=1.0)

    filled = jnp.array([[0, 1], [2, NOTHING]])
    made, other = run(filled, 0.0), run(filled, jnp.nan)
    repeated = run(jnp.array([[0, 1], [2, 2]]), 0.0)  # twice the same has the same mean
    for one, two, three in zip(*map(jax.tree.leaves, (made, other, repeated)), strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_allclose(one, three, rtol=1e-3, atol=1e-5)
    again = run(jnp.tile(filled, (40, 1)), 0.0)
    assert 0 < again.loss < made.loss
    assert again.recovered > made.recovered
