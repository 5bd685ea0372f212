"""How a team comes through a change: the response to it, the time until it has recovered, and the regret."""

import numpy as np
from jaxtyping import Float, Int

from pc3d.evaluation.changing.censored import CensoredTimes
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


def recovery_times(
    rewards: Rewards, later: Rewards, moments: Int[np.ndarray, " rollout"], window: int
) -> CensoredTimes:
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
    return CensoredTimes(np.array(steps), np.array(seen))


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
