"""What a value should have been: against sums of returns, done one by one."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.learners.q_learning.losses import double_q
from pc3d.learners.targets import targets_of
from tests import factored_equations as equations
from tests.runs.made_up_rounds import made_round
from tests.small import random_team, small_experiment

STEPS = 6


def experiment_with(trace=0.0, **recipe):
    usual = small_experiment("vdn")
    algorithm = replace(usual.algorithm, trace=trace, discount=0.9)
    return replace(usual, algorithm=algorithm, recipe=replace(usual.recipe, **recipe))


def played(ends, *, terminates, agents=2):
    """Two episodes with made-up rewards: one that ends early, one that goes on to the time limit."""
    clock = np.arange(STEPS)
    stops = np.array([[ends], [STEPS]])
    return replace(
        made_round(1, count=2, agents=agents, steps=STEPS, kept="nothing"),
        rewards=np.where(clock < stops, np.asarray(random_team(0, 2, STEPS)), 0).astype(np.float32),
        played=clock < stops,
        terminated=(clock == stops - 1) & np.array([[terminates], [False]]),
    )


@pytest.mark.parametrize("trace", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("terminates", [True, False])
def test_targets_are_mixtures_of_returns_after_any_number_of_steps(trace, terminates):
    episodes, values = played(4, terminates=terminates), random_team(1, 2, STEPS)
    made = targets_of(experiment_with(trace), episodes, values)
    for episode, ends in enumerate((4, STEPS)):
        parts = (episodes.rewards / 2, np.asarray(values), episodes.terminated)
        expected = equations.traced_targets(*(part[episode, :ends] for part in parts), 0.9, trace)
        np.testing.assert_allclose(made[episode, :ends], expected, atol=1e-5)


@pytest.mark.parametrize("trace", [0.0, 0.5, 1.0])
def test_bonuses_count_once_along_the_way_and_once_where_a_return_ends(trace):
    episodes, values, bonuses = played(4, terminates=True), random_team(1, 2, STEPS), random_team(2, 2, STEPS)
    made = targets_of(experiment_with(trace), episodes, values + bonuses, bonuses)
    for episode, ends in enumerate((4, STEPS)):
        parts = (episodes.rewards / 2, np.asarray(values), episodes.terminated, np.asarray(bonuses))
        rewards, worth, terminated, extra = (part[episode, :ends] for part in parts)
        expected = equations.traced_targets(rewards, worth, terminated, 0.9, trace, extra)
        np.testing.assert_allclose(made[episode, :ends], expected, atol=1e-5)


def test_at_the_time_limit_nothing_follows_if_it_is_an_end():
    episodes, values = played(STEPS, terminates=False), random_team(1, 2, STEPS)
    made = targets_of(experiment_with(horizon_bootstraps=False), episodes, values)
    np.testing.assert_allclose(made[:, -1], episodes.rewards[:, -1] / 2, atol=1e-6)
    open_end = targets_of(experiment_with(), episodes, values)
    np.testing.assert_allclose(open_end[:, -1], episodes.rewards[:, -1] / 2 + 0.9 * values[:, -1], atol=1e-6)
    np.testing.assert_array_equal(made[:, :-1], open_end[:, :-1])


def test_rewards_are_divided_by_the_team_or_taken_as_they_come():
    episodes, values = played(STEPS, terminates=False, agents=3), jnp.zeros((2, STEPS))
    for shared, divisor in ((True, 3), (False, 1)):
        made = targets_of(experiment_with(reward_per_agent=shared), episodes, values)
        np.testing.assert_allclose(made, episodes.rewards / divisor, atol=1e-6)


def test_one_network_chooses_and_the_other_values():
    online, slow = random_team(0, 7, 3, 5), random_team(1, 7, 3, 5)
    expected = np.take_along_axis(np.asarray(slow), np.argmax(online, axis=-1)[..., None], axis=-1)[..., 0]
    np.testing.assert_array_equal(double_q(online, slow), expected)
    assert not np.allclose(double_q(online, slow), np.max(slow, axis=-1))
