"""What scores say: the paper's aggregation, and robust statistics with intervals.

A matrix is seed × team size; each number is the mean over the rollouts of one policy at one size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from jaxtyping import Float, Int
from scipy.special import stdtr, stdtrit

Matrix = Float[np.ndarray, "seed size"]

# The paper does not say which standard deviation its ± is. Seeds are a sample, so we divide by n - 1.
DEGREES_OF_FREEDOM_LOST = 1
CONFIDENCE = 0.95
RESAMPLES = 2000
RESAMPLING_SEED = 0  # equal runs give equal reports


class Draws(Protocol):
    """Where random row numbers come from: either of NumPy's generators."""

    def choice(self, a: int, size: tuple[int, ...]) -> Int[np.ndarray, "..."]: ...


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
    """Mean and standard deviation over seeds."""
    deviation = float(np.std(values, ddof=DEGREES_OF_FREEDOM_LOST)) if len(values) > 1 else None
    return Spread(float(np.mean(values)), deviation, len(values))


def difference(ours: Spread, theirs: Spread) -> Estimate:
    """Our mean minus theirs, with the interval of Welch's t: both samples small, deviations unlike."""
    value, seeds, welch = ours.mean - theirs.mean, min(ours.seeds, theirs.seeds), _welch(ours, theirs)
    if welch is None:
        return Estimate(value, seeds)
    error, freedoms = welch
    reach = float(stdtrit(freedoms, (1 + CONFIDENCE) / 2)) * error
    return Estimate(value, seeds, (value - reach, value + reach))


def chance_of_difference(ours: Spread, theirs: Spread) -> float:
    """How probable a difference at least this large would be between equals (Welch's t, two-sided)."""
    value, welch = ours.mean - theirs.mean, _welch(ours, theirs)
    if welch is None:
        return 1.0  # a single seed tells of no other
    error, freedoms = welch
    if error == 0:
        return float(value == 0)
    return 2 * float(stdtr(freedoms, -abs(value) / error))


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


def holm(chances: list[float]) -> list[float]:
    """The chances corrected for their number, so that one false finding among all is as rare as claimed."""
    order = sorted(range(len(chances)), key=chances.__getitem__)
    corrected, highest = [1.0] * len(chances), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(chances) - rank) * chances[place]))
        corrected[place] = highest
    return corrected


def mean_over_pairs(values: Float[np.ndarray, " pair"]) -> Estimate:
    """The mean of differences within pairs, with the interval of Student's t."""
    mean, count = float(np.mean(values)), len(values)
    if count < 2:
        return Estimate(mean, count)
    error = float(np.std(values, ddof=DEGREES_OF_FREEDOM_LOST)) / math.sqrt(count)
    reach = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2)) * error
    return Estimate(mean, count, (mean - reach, mean + reach))


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


def interquartile_mean_estimate(
    scores: Matrix, resampling: Resampling = whole_seeds, draws: Draws | None = None
) -> Estimate:
    """The interquartile mean over seeds and sizes."""
    return _estimate(interquartile_mean, (scores,), resampling, draws)


def improvement_estimate(
    ours: Matrix, theirs: Matrix, resampling: Resampling = whole_seeds, draws: Draws | None = None
) -> Estimate:
    """The probability of improvement; the seeds of both methods are resampled."""
    return _estimate(probability_of_improvement, (ours, theirs), resampling, draws)


def paired_difference(ours: Matrix, theirs: Matrix, draws: Draws | None = None) -> Estimate:
    """Ours minus theirs, where row i of both is the same seed; pairs are resampled whole."""
    return _mean_over_seeds(np.mean(ours - theirs, axis=1), draws)


def unseen_gap(seen: Matrix, unseen: Matrix, draws: Draws | None = None) -> Estimate:
    """How much is lost from team sizes trained on to new ones; a seed's both halves stay together."""
    return _mean_over_seeds(seen.mean(axis=1) - unseen.mean(axis=1), draws)


def curve_interval(
    curves: Float[np.ndarray, "seed point"], draws: Draws | None = None
) -> tuple[Float[np.ndarray, " point"], Float[np.ndarray, " point"]]:
    """The interval of the mean curve at each point; seeds are resampled as whole curves."""
    chosen = (draws or _fresh_draws()).choice(len(curves), (RESAMPLES, len(curves)))
    weights = np.stack([(chosen == seed).mean(axis=1) for seed in range(len(curves))], axis=1)
    low, high = np.percentile(weights @ curves, _tails(), axis=0)
    return low, high


def _mean_over_seeds(values: Float[np.ndarray, " seed"], draws: Draws | None) -> Estimate:
    return _estimate(lambda column: float(np.mean(column)), (values[:, None],), whole_seeds, draws)


def _estimate(
    statistic: Callable[..., float], samples: tuple[Matrix, ...], resampling: Resampling, draws: Draws | None
) -> Estimate:
    """The statistic with the middle 95 % of its values on resampled data (the percentile bootstrap)."""
    value, seeds, source = statistic(*samples), min(map(len, samples)), draws or _fresh_draws()
    if seeds < 2:
        return Estimate(value, seeds)
    values = [statistic(*(resampling(sample, source) for sample in samples)) for _ in range(RESAMPLES)]
    low, high = np.percentile(values, _tails())
    return Estimate(value, seeds, (float(low), float(high)))


def _tails() -> tuple[float, float]:
    return 50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE)


def _fresh_draws() -> Draws:
    return np.random.default_rng(RESAMPLING_SEED)
