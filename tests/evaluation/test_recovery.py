"""Responses, recovery times and Kaplan–Meier estimates against answers that are known."""

import numpy as np
import pytest

from pc3d.evaluation.changing.censored import CensoredTimes
from pc3d.evaluation.changing.recovery import (
    after,
    recovery_times,
    response,
    since,
    window_of,
    windowed,
)
from pc3d.evaluation.changing.summary import mixture_of, regret_of, summary_of_one_change
from pc3d.evaluation.changing.twins import CHANGED, LATER, TWINS, UNCHANGED, Twins

STEPS = 20


def rewards_with_a_dip(level, low, moment, back):
    """At a level, but low from the change until so many steps later."""
    steps = np.arange(STEPS)
    return np.where((steps >= moment) & (steps < moment + back), low, level).astype(float)


def test_the_kaplan_meier_estimate_of_a_textbook_example():
    """Six, of whom two were lost sight of: 1 · 5/6 · 3/4 · 1/2, worked out by hand."""
    times = CensoredTimes(np.array([2, 3, 5, 7, 8, 9]), np.array([True, False, True, False, True, False]))
    at, left = times.survival()
    np.testing.assert_allclose(at, [2, 5, 8])
    np.testing.assert_allclose(left, [5 / 6, 5 / 6 * 3 / 4, 5 / 6 * 3 / 4 / 2])
    assert times.median == 8
    assert times.share == 0.5


def test_without_censoring_the_estimate_is_the_empirical_distribution():
    steps = np.array([1, 4, 4, 6, 9])
    at, left = CensoredTimes(steps, np.ones(5, bool)).survival()
    np.testing.assert_allclose(left, [(steps > time).mean() for time in at])


def test_a_median_that_was_not_seen_is_none():
    assert CensoredTimes(np.array([3, 9, 9]), np.array([True, False, False])).median is None
    assert CensoredTimes(np.array([9, 9]), np.zeros(2, bool)).median is None


@pytest.mark.parametrize(("level", "low"), [(1.0, 0.0), (-1.0, -3.0)])
def test_a_team_has_recovered_when_it_is_back_and_stays_there(level, low):
    moments = np.array([8, 8, 10])
    dips = ((8, 4), (8, 0), (10, 99))
    rewards = np.stack([rewards_with_a_dip(level, low, moment, back) for moment, back in dips])
    found = recovery_times(rewards, np.full((3, STEPS), level), moments, window=2)
    assert found.steps.tolist() == [4, 0, 8]
    assert found.seen.tolist() == [True, True, False]


def test_a_moment_of_luck_is_no_recovery():
    rewards = rewards_with_a_dip(1.0, 0.0, 5, 10)
    rewards[7:9] = 1.0  # one window, not two in a row
    found = recovery_times(rewards[None], np.ones((1, STEPS)), np.array([5]), window=2)
    assert found.steps.tolist() == [10]


def test_nine_tenths_of_the_level_are_enough():
    for missing, seen in ((0.09, True), (0.11, False)):
        rewards = np.where(np.arange(STEPS) < 5, 1.0, 1 - missing)[None]
        assert recovery_times(rewards, np.ones((1, STEPS)), np.array([5]), window=2).seen.all() == seen


def test_windows_are_means_of_the_steps_that_follow():
    np.testing.assert_allclose(windowed(np.array([[1.0, 3.0, 5.0, 7.0]]), 2), [[2, 4, 6]])
    assert [window_of(horizon) for horizon in (5, 25, 100, 500)] == [1, 2, 10, 50]


def test_steps_are_counted_from_each_rollouts_own_change():
    values = np.arange(8.0).reshape(2, 4)
    found = since(values, np.array([1, 3]), first=-1)
    np.testing.assert_array_equal(found[:, :3], [[0, 1, 2], [6, 7, np.nan]])


def test_the_response_is_the_mean_difference_around_the_change():
    unchanged = np.ones((2, STEPS))
    changed = np.stack([rewards_with_a_dip(1.0, low, moment, 3) for low, moment in ((0.0, 8), (0.5, 12))])
    found = response(changed, unchanged, np.array([8, 12]), first=-2)
    np.testing.assert_allclose(found[:7], [0, 0, -0.75, -0.75, -0.75, 0, 0])
    assert after(changed, np.array([8, 12])).tolist() == [9, 6.5]


def made_up(changed, unchanged, later, present):
    rewards = dict(zip(TWINS, (changed, unchanged, later, changed), strict=True))
    return Twins(4, rewards, present)


def one_loss(moment):
    return np.stack([np.arange(4) < (4 if step < moment else 2) for step in range(STEPS + 1)])


def test_a_change_is_known_by_who_is_there():
    twins = made_up(*[np.zeros((2, STEPS))] * 3, np.stack([one_loss(8), one_loss(12)]))
    assert twins.first_changes.tolist() == [8, 12]
    assert twins.changes.sum(axis=1).tolist() == [1, 1]


def test_summary_and_regret_of_a_known_loss():
    changed = rewards_with_a_dip(1.0, 0.0, 8, 4)[None]
    twins = made_up(changed, np.full((1, STEPS), 2.0), np.ones((1, STEPS)), one_loss(8)[None])
    found = summary_of_one_change(twins)
    assert (found["after"], found["moments"]) == (2, [8])
    assert found["recovery"]["steps"] == [4]
    assert found["recovery_unshocked"]["steps"] == [0]
    assert found["depth"] == -2
    assert found["area"] == -(4 * 2 + 8 * 1)
    regret = regret_of(twins, scripted=np.full((1, STEPS), 1.5), random=np.full((1, STEPS), 0.5))
    assert regret == {"scripted": 18.0, "random": 6.0, "regret": round(4 / 12, 6)}
    assert twins.rewards[LATER].sum() - twins.rewards[CHANGED].sum() == 4
    assert twins.rewards[UNCHANGED].sum() == 40


def test_the_mixture_is_of_constant_teams_at_the_same_steps():
    twins = made_up(*[np.zeros((1, STEPS))] * 3, one_loss(8)[None])
    constant = {size: np.full((3, STEPS), level) for size, level in ((2, 1.0), (3, 0.0), (4, 10.0))}
    found = mixture_of(twins, constant)
    assert found == {"mixture": [8 * 10.0 + 12 * 1.0], "cost": 92.0}
