"""What the twins of one team size say, in plain numbers for a file and a table."""

from typing import Any

import numpy as np
from jaxtyping import Float

from pc3d.evaluation.changing.censored import CensoredTimes
from pc3d.evaluation.changing.recovery import (
    after,
    recovery_times,
    response,
    window_of,
    windowed,
)
from pc3d.evaluation.changing.twins import CHANGED, LATER, UNCHANGED, Rewards, Twins

DIGITS = 6


def summary_of(twins: Twins) -> dict[str, Any]:
    """Of any process: what the team was, what it brought, and how soon who joined was of use."""
    waiting = {} if twins.waiting is None else twins.waiting._asdict()
    return {
        "mean_present": round(float(twins.sizes.mean()), DIGITS),
        "changes": round(float(twins.changes.sum(axis=1).mean()), DIGITS),
        "returns": {name: _plain(rewards.sum(axis=1)) for name, rewards in twins.rewards.items()},
        "first_contribution": {name: _first_contribution(times) for name, times in waiting.items()},
    }


def summary_of_one_change(twins: Twins) -> dict[str, Any]:
    """Of a process with one change: the response to it, and recovery from it."""
    moments, horizon = twins.first_changes, twins.rewards[CHANGED].shape[1]
    window, rewards = window_of(horizon), twins.rewards
    first = -min(window, int(moments.min()))
    costs = response(rewards[CHANGED], rewards[UNCHANGED], moments, first)
    known = costs[~np.isnan(costs)]
    return {
        "after": int(twins.sizes[0, -1]),
        "moments": moments.tolist(),
        "window": window,
        "response_from": first,
        "response": _plain(known),
        "depth": round(float(windowed(known[None, -first:], window).min(initial=0.0)), DIGITS),
        "area": round(float(known[-first:].sum()), DIGITS),
        "since_change": {name: _plain(after(values, moments)) for name, values in rewards.items()},
        "recovery": _recovery(recovery_times(rewards[CHANGED], rewards[LATER], moments, window)),
        # How long a team that never changed seems to take: the rest is what the change has cost.
        "recovery_unshocked": _recovery(recovery_times(rewards[LATER], rewards[LATER], moments, window)),
    }


def regret_of(twins: Twins, scripted: Rewards, random: Rewards) -> dict[str, Any]:
    """What is missing to the later team from the start, in units of what there is to gain.

    The references play the first of the rollouts with the later team from the start.
    """
    moments = twins.first_changes
    gain = [float(after(rewards, moments[: len(rewards)]).mean()) for rewards in (scripted, random)]
    missing = float((after(twins.rewards[LATER], moments) - after(twins.rewards[CHANGED], moments)).mean())
    room = gain[0] - gain[1]
    return {
        "scripted": round(gain[0], DIGITS),
        "random": round(gain[1], DIGITS),
        "regret": round(missing / room, DIGITS) if room > 0 else None,
    }


def mixture_of(twins: Twins, constant: dict[int, Rewards]) -> dict[str, Any]:
    """What constant teams of the same sizes bring at the same steps, and what changing has cost."""
    levels = np.zeros((max(constant) + 1, twins.changes.shape[1]))
    for size, rewards in constant.items():
        levels[size] = rewards.mean(axis=0)
    expected = np.take_along_axis(levels, twins.sizes[:, :-1], axis=0).sum(axis=1)
    return {
        "mixture": _plain(expected),
        "cost": round(float((expected - twins.rewards[CHANGED].sum(axis=1)).mean()), DIGITS),
    }


def _first_contribution(times: CensoredTimes) -> dict[str, Any]:
    """As a table: there are many who wait."""
    return {**_in_short(times), "life_table": times.life_table()}


def _recovery(times: CensoredTimes) -> dict[str, Any]:
    survival = np.stack(times.survival(), axis=-1)
    return {
        "steps": times.steps.tolist(),
        "seen": times.seen.tolist(),
        **_in_short(times),
        "survival": [_plain(point) for point in survival],
    }


def _in_short(times: CensoredTimes) -> dict[str, Any]:
    return {"share": round(times.share, DIGITS), "median": times.median}


def _plain(values: Float[np.ndarray, " value"]) -> list[float]:
    return [round(float(value), DIGITS) for value in values]
