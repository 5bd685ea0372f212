"""The statistics of a report: by hand, and against rliable."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from pc3d.report.statistics import (
    RESAMPLES,
    chance_of_difference,
    curve_interval,
    difference,
    estimate,
    holm,
    interquartile_mean,
    normalised,
    over_seeds,
    paired_difference,
    probability_of_improvement,
    sizes_as_strata,
)

# rliable cannot be imported beside our versions; record_rliable.py says how these values were made.
RECORDED = json.loads((Path(__file__).parent / "rliable_values.json").read_text())
CASES = pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: case["name"])


def assert_agrees(statistic, samples, recorded):
    draws = np.random.RandomState(RECORDED["random_state"])
    agreeing = estimate(statistic, *map(np.array, samples), resampling=sizes_as_strata, draws=draws)
    found = (agreeing.value, *agreeing.interval)
    assert found == pytest.approx((recorded["value"], recorded["low"], recorded["high"]), abs=1e-6)


@CASES
def test_the_interquartile_mean_and_its_interval_are_rliables(case):
    assert RECORDED["resamples"] == RESAMPLES
    assert_agrees(interquartile_mean, (case["ours"],), case["interquartile_mean"])


@CASES
def test_the_probability_of_improvement_and_its_interval_are_rliables(case):
    samples = (case["ours"], case["theirs"])
    assert_agrees(probability_of_improvement, samples, case["probability_of_improvement"])


def test_the_deviation_over_seeds_divides_by_one_less_than_their_number():
    spread = over_seeds(np.array([1.0, 3.0]))
    assert (spread.mean, spread.seeds) == (2.0, 2)
    assert spread.deviation == pytest.approx(2**0.5)


def test_a_difference_has_the_interval_of_welchs_test():
    ours, theirs = np.array([1.0, 4.0, 2.5, 3.0, 2.0]), np.array([0.5, 0.6, 0.9])
    found = difference(over_seeds(ours), over_seeds(theirs))
    expected = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval()
    assert found.value == pytest.approx(ours.mean() - theirs.mean())
    assert found.interval == pytest.approx((expected.low, expected.high))
    assert difference(over_seeds(ours), over_seeds(ours[:1])).interval is None


def test_the_chance_of_a_difference_is_that_of_welchs_test():
    ours, theirs = np.array([1.0, 4.0, 2.5, 3.0, 2.0]), np.array([0.5, 0.6, 0.9])
    expected = stats.ttest_ind(ours, theirs, equal_var=False).pvalue
    for one, other in ((ours, theirs), (theirs, ours)):
        assert chance_of_difference(over_seeds(one), over_seeds(other)) == pytest.approx(expected)
    assert chance_of_difference(over_seeds(ours), over_seeds(ours[:1])) == 1


def test_seeds_that_do_not_differ_leave_nothing_to_chance():
    ones, twos = over_seeds(np.array([1.0, 1.0])), over_seeds(np.array([2.0, 2.0]))
    assert chance_of_difference(ones, ones) == 1
    assert chance_of_difference(ones, twos) == 0
    assert difference(ones, twos).interval == (-1, -1)


def test_holms_correction_by_hand():
    # In order: 4 × 0.01, 3 × 0.02, then 2 × 0.022 = 0.044, which may not fall below 0.06; 0.6 stays.
    assert holm([0.6, 0.01, 0.022, 0.02]) == pytest.approx([0.6, 0.04, 0.06, 0.06])
    assert holm([0.7, 0.5]) == [1, 1]
    assert holm([]) == []


def test_a_single_seed_has_neither_deviation_nor_interval():
    scores = np.array([[0.2, 0.4]])
    assert over_seeds(scores[:, 0]).deviation is None
    assert estimate(interquartile_mean, scores).interval is None
    assert estimate(probability_of_improvement, scores, scores).interval is None
    assert paired_difference(scores, scores).interval is None


def test_the_interquartile_mean_leaves_out_a_quarter_at_either_end():
    assert interquartile_mean(np.array([[100.0, 1.0, 2.0, -100.0]])) == 1.5


def test_random_play_is_zero_and_the_best_reference_one():
    scores = np.array([[-10.0, -20.0], [-5.0, -5.0], [-7.5, 0.0]])
    low, high = np.array([-10.0, -20.0]), np.array([-5.0, -5.0])
    assert normalised(scores, low, high).tolist() == [[0.0, 0.0], [1.0, 1.0], [0.5, 20 / 15]]


def test_ties_count_half():
    assert probability_of_improvement(np.array([[1.0], [2.0]]), np.array([[1.0], [0.0]])) == 0.875


def test_pairing_by_seed_removes_what_seeds_share():
    luck = np.array([[-3.0], [0.0], [4.0]])
    theirs = luck + np.array([[0.0, 1.0]])
    difference = paired_difference(theirs + 0.5, theirs)
    assert difference.value == pytest.approx(0.5)
    assert difference.interval == pytest.approx((0.5, 0.5))


def test_the_gap_is_seen_minus_unseen_seed_by_seed():
    gap = paired_difference(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0], [2.0]]))
    assert gap.value == pytest.approx((0.5 + 1.5) / 2)
    assert gap.interval == pytest.approx((0.5, 1.5))


def test_a_curves_interval_holds_its_mean_and_stays_within_the_seeds():
    curves = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 8.0]])
    low, high = curve_interval(curves)
    assert (curves.min(axis=0) <= low).all()
    assert (low < curves.mean(axis=0)).all()
    assert (curves.mean(axis=0) < high).all()
    assert (high <= curves.max(axis=0)).all()


def test_equal_scores_give_equal_intervals_every_time():
    scores = np.random.default_rng(0).normal(size=(4, 3))
    assert estimate(interquartile_mean, scores) == estimate(interquartile_mean, scores)


def test_sizes_that_rise_and_fall_together_tell_no_more_than_one_of_them():
    luck = np.random.default_rng(3).normal(size=(6, 1))
    scores = np.repeat(luck, 8, axis=1)
    whole, alone, apart = (
        estimate(interquartile_mean, scores),
        estimate(interquartile_mean, luck),
        estimate(interquartile_mean, scores, resampling=sizes_as_strata),
    )
    widths = [found.interval[1] - found.interval[0] for found in (whole, alone, apart)]
    assert whole.value == apart.value
    assert widths[0] > 0.8 * widths[1]
    assert widths[2] < 0.6 * widths[0]


def test_a_lucky_seed_keeps_its_luck_at_every_size_in_a_probability_of_improvement():
    ours, theirs = np.repeat([[0.0], [2.0], [4.0]], 5, axis=1), np.repeat([[1.0], [3.0], [5.0]], 5, axis=1)
    whole = estimate(probability_of_improvement, ours, theirs)
    apart = estimate(probability_of_improvement, ours, theirs, resampling=sizes_as_strata)
    assert whole.interval[0] < apart.interval[0] < apart.interval[1] < whole.interval[1]
