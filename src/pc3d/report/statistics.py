"""What scores say: the paper's aggregation, and robust statistics with intervals.

A matrix is seed × team size; each number is the mean over the rollouts of one policy at one size.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import stdtr, stdtrit

Matrix = Float[np.ndarray, "seed size"]
Points = Float[np.ndarray, " point"]  # of a curve

# The paper does not say which standard deviation its ± is. Seeds are a sample, so we divide by n - 1.
DEGREES_OF_FREEDOM_LOST = 1
CONFIDENCE = 0.95
RESAMPLES = 2000
RESAMPLING_SEED = 0  # equal runs give equal reports
TAILS = (50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE))

Draws = np.random.Generator | np.random.RandomState  # the older one is rliable's
Resampling = Callable[[Matrix, Draws], Matrix]


@dataclass(frozen=True)
class Estimate:
    """A number, the seeds or pairs behind it, and its interval: none for one alone, telling of no other."""

    value: float
    seeds: int
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Spread:
    """The paper's mean ± standard deviation over seeds; a single seed has no deviation."""

    mean: float
    deviation: float | None
    seeds: int


def over_seeds(values: Float[np.ndarray, " seed"]) -> Spread:
    deviation = float(np.std(values, ddof=DEGREES_OF_FREEDOM_LOST)) if len(values) > 1 else None
    return Spread(float(np.mean(values)), deviation, len(values))


def difference(ours: Spread, theirs: Spread) -> Estimate:
    """Our mean minus theirs, with the interval of Welch's t: both samples small, deviations unlike."""
    value, welch = ours.mean - theirs.mean, _welch(ours, theirs)
    return Estimate(value, min(ours.seeds, theirs.seeds), _around(value, *welch) if welch else None)


def chance_of_difference(ours: Spread, theirs: Spread) -> float:
    """How probable a difference at least this large would be between equals (Welch's t, two-sided)."""
    value, welch = ours.mean - theirs.mean, _welch(ours, theirs)
    if welch is None:
        return 1.0  # a single seed tells of no other
    error, freedoms = welch
    return 2 * float(stdtr(freedoms, -abs(value) / error)) if error else float(value == 0)


def mean_of(values: Float[np.ndarray, " value"]) -> Estimate:
    """The mean of seeds, or of differences within pairs, with the interval of Student's t."""
    spread, count = over_seeds(values), len(values)
    if spread.deviation is None:
        return Estimate(spread.mean, count)
    return Estimate(spread.mean, count, _around(spread.mean, spread.deviation / math.sqrt(count), count - 1))


def _welch(ours: Spread, theirs: Spread) -> tuple[float, float] | None:
    """The standard error of a difference and its degrees of freedom; one seed alone has none."""
    if ours.deviation is None or theirs.deviation is None:
        return None
    our_error, their_error = ours.deviation**2 / ours.seeds, theirs.deviation**2 / theirs.seeds
    error = our_error + their_error
    if error == 0:
        return 0.0, 1.0
    freedoms = error**2 / (our_error**2 / (ours.seeds - 1) + their_error**2 / (theirs.seeds - 1))
    return math.sqrt(error), freedoms


def _around(value: float, error: float, freedoms: float) -> tuple[float, float]:
    """The interval of Student's t."""
    reach = float(stdtrit(freedoms, (1 + CONFIDENCE) / 2)) * error
    return value - reach, value + reach


def holm(chances: list[float]) -> list[float]:
    """The chances corrected for their number, so that one false finding among all is as rare as claimed."""
    order = np.argsort(chances)
    larger = np.minimum(1, np.arange(len(chances), 0, -1) * np.take(chances, order))
    return np.maximum.accumulate(larger)[np.argsort(order)].tolist()


def normalised(scores: Matrix, low: Float[np.ndarray, " size"], high: Float[np.ndarray, " size"]) -> Matrix:
    """Each size's returns on a scale where `low` (random) is 0 and `high` (the best reference) is 1."""
    return (scores - low) / (high - low)


def interquartile_mean(scores: Matrix) -> float:
    """The mean of the middle half of all numbers: no single seed or size can carry it."""
    ordered = np.sort(scores, axis=None)
    cut = ordered.size // 4
    return float(np.mean(ordered[cut : ordered.size - cut]))


def probability_of_improvement(ours: Matrix, theirs: Matrix) -> float:
    """How often one of our seeds beats one of theirs at the same size; a tie counts half."""
    outcome = np.sign(ours[:, None] - theirs[None, :])
    return float(np.mean((outcome + 1) / 2))


def whole_seeds(scores: Matrix, draws: Draws) -> Matrix:
    """As many seeds as there are, drawn with replacement, each with all of its sizes."""
    return scores[draws.choice(len(scores), (len(scores),))]


def sizes_as_strata(scores: Matrix, draws: Draws) -> Matrix:
    """As many seeds as there are, drawn with replacement, for each size anew, as rliable does.

    The sizes of one seed are scores of one policy, so they rise and fall together. Drawn apart they
    average each other out, and intervals come out far too narrow.
    """
    return scores[draws.choice(len(scores), scores.shape), np.arange(scores.shape[1])]


def estimate(
    statistic: Callable[..., Any],
    *samples: Matrix | Float[np.ndarray, " seed"],
    resampling: Resampling = whole_seeds,
    draws: Draws | None = None,
) -> Estimate:
    """A statistic with the middle 95 % of its values on resampled data (the percentile bootstrap)."""
    value, seeds = float(statistic(*samples)), min(map(len, samples))
    source = draws or np.random.default_rng(RESAMPLING_SEED)
    if seeds < 2:
        return Estimate(value, seeds)
    values = [statistic(*(resampling(sample, source) for sample in samples)) for _ in range(RESAMPLES)]
    low, high = np.percentile(values, TAILS)
    return Estimate(value, seeds, (float(low), float(high)))


def paired_difference(first: Matrix, second: Matrix) -> Estimate:
    """The first's mean minus the second's, row i of both being the same seed; pairs are resampled whole."""
    return estimate(np.mean, first.mean(axis=1) - second.mean(axis=1))


def curve_interval(curves: Float[np.ndarray, "seed point"]) -> tuple[Points, Points]:
    """The interval of the mean curve at each point; seeds are resampled as whole curves."""
    chosen = np.random.default_rng(RESAMPLING_SEED).choice(len(curves), (RESAMPLES, len(curves)))
    weights = np.stack([(chosen == seed).mean(axis=1) for seed in range(len(curves))], axis=1)
    low, high = np.percentile(weights @ curves, TAILS, axis=0)
    return low, high
