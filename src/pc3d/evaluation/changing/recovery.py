"""How a team comes through a change: the response to it, the time until it has recovered, and the regret."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from pc3d.evaluation.changing.twins import Rewards

ENOUGH = 0.9  # of the level of a team that had the later size from the start
SHARE_OF_WINDOW = 0.1  # of an episode
Steps = Float[np.ndarray, "rollout step"]  # since the change; NaN where there is none


def window_of(horizon: int) -> int:
    """Over how many steps rewards are averaged: single ones are mostly luck."""
    return max(1, round(SHARE_OF_WINDOW * horizon))


def windowed(rewards: Rewards, window: int) -> Float[np.ndarray, "rollout window"]:
    """The mean of each step and those after it; shorter by what the last ones lack."""
    sums = np.cumsum(np.pad(rewards, [(0, 0), (1, 0)]), axis=1)
    return (sums[:, window:] - sums[:, :-window]) / window


def since(values: Rewards, moments: Int[np.ndarray, " rollout"], first: int = 0) -> Steps:
    """The same by steps since the change of each rollout, from `first` (before it, if negative)."""
    steps = np.arange(first, values.shape[1])
    at = moments[:, None] + steps
    inside = (at >= 0) & (at < values.shape[1])
    found = np.take_along_axis(values, np.clip(at, 0, values.shape[1] - 1), axis=1)
    return np.where(inside, found, np.nan)


@dataclass(frozen=True)
class RecoveryTimes:
    """Steps until each rollout has recovered; where it was not seen to, how long it was looked at."""

    steps: Int[np.ndarray, " rollout"]
    seen: Bool[np.ndarray, " rollout"]

    @property
    def share(self) -> float:
        return float(self.seen.mean())

    def survival(self) -> tuple[Float[np.ndarray, " time"], Float[np.ndarray, " time"]]:
        """Kaplan and Meier's estimate: at each time of a recovery, the share that has not recovered yet."""
        times = np.unique(self.steps[self.seen])
        at_risk = np.array([(self.steps >= time).sum() for time in times])
        recovered = np.array([(self.seen & (self.steps == time)).sum() for time in times])
        return times.astype(float), np.cumprod(1 - recovered / np.maximum(at_risk, 1))

    @property
    def median(self) -> float | None:
        """When half have recovered; None if that was not seen."""
        times, left = self.survival()
        found = times[left <= 0.5]
        return float(found[0]) if len(found) else None


def recovery_times(
    rewards: Rewards, later: Rewards, moments: Int[np.ndarray, " rollout"], window: int
) -> RecoveryTimes:
    """From when on a window's mean stays for a window near that of teams that were always so large.

    Their level is a mean over rollouts, step by step. Where rewards are negative, so is the level, and a
    tenth of its size is what may be missing.
    """
    level = windowed(later, window).mean(axis=0)
    enough = windowed(rewards, window) >= level - (1 - ENOUGH) * np.abs(level)
    aligned = since(enough.astype(float), moments)
    steps, seen = [], []
    for row in aligned:
        held = row[~np.isnan(row)] > 0
        looked = max(len(held) - window + 1, 0)
        lasting = [bool(held[step : step + window].all()) for step in range(looked)]
        seen.append(any(lasting))
        steps.append(lasting.index(True) if seen[-1] else looked)
    return RecoveryTimes(np.array(steps), np.array(seen))


def response(
    changed: Rewards, unchanged: Rewards, moments: Int[np.ndarray, " rollout"], first: int
) -> Float[np.ndarray, " step"]:
    """What the change has cost at each step since, on average; NaN where no rollout goes that far."""
    aligned = since(changed - unchanged, moments, first)
    known = ~np.isnan(aligned)
    counts = known.sum(axis=0)
    sums = np.where(known, aligned, 0).sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def after(rewards: Rewards, moments: Int[np.ndarray, " rollout"]) -> Float[np.ndarray, " rollout"]:
    """What each rollout brought since its change."""
    return np.where(np.arange(rewards.shape[1]) >= moments[:, None], rewards, 0).sum(axis=1)
