"""How soon who joins is of use: steps until its first contribution, beside those of who was there already."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from pc3d.evaluation.changing.censored import CensoredTimes

ByAgent = Bool[np.ndarray, "rollout time agent"]


class Waiting(NamedTuple):
    """Steps until a contribution: of those who have just joined, and of the others there at that moment."""

    joiners: CensoredTimes
    incumbents: CensoredTimes


def waiting_times(
    contributed: ByAgent,
    played: Bool[np.ndarray, "rollout time"],
    present: Bool[np.ndarray, "rollout moment agent"],
) -> Waiting | None:
    """The steps that each plays up to its first contribution from then on; None if nobody ever joins.

    Who leaves before, or sees the episode end, was looked at for as long as it played.
    """
    there = present[:, :-1] & played[:, :, None]
    steps, seen = _until_next(contributed & there, there)
    before = np.concatenate([there[:, :1], present[:, :-2]], axis=1)
    joining = there & ~before
    others = there & before & joining.any(axis=2, keepdims=True)
    if not joining.any():
        return None
    return Waiting(*(CensoredTimes(steps[chosen], seen[chosen]) for chosen in (joining, others)))


def _until_next(
    contributed: ByAgent, there: ByAgent
) -> tuple[Int[np.ndarray, "rollout time agent"], ByAgent]:
    """Of each at each step: how many it plays until it contributes, and whether it ever does."""
    steps, seen = np.zeros(there.shape, int), np.zeros(there.shape, bool)
    later_steps, later_seen = steps[:, 0], seen[:, 0]
    for time in reversed(range(there.shape[1])):
        now = contributed[:, time]
        later_steps = np.where(now, 1, there[:, time] * (1 + later_steps))
        later_seen = now | (there[:, time] & later_seen)
        steps[:, time], seen[:, time] = later_steps, later_seen
    return steps, seen
