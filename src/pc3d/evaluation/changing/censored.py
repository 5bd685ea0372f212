"""Waiting times of which some ended unseen, and what can be said of them all the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

LifeTable = list[list[int]]  # rows of steps, how many ended then, and how many were lost sight of


@dataclass(frozen=True)
class CensoredTimes:
    """Steps until something was seen; where it was not, how long it was looked for."""

    steps: Int[np.ndarray, " case"]
    seen: Bool[np.ndarray, " case"]

    @property
    def share(self) -> float:
        return float(self.seen.mean())

    def survival(self) -> tuple[Float[np.ndarray, " time"], Float[np.ndarray, " time"]]:
        """Kaplan and Meier's estimate: at each time of an end, the share for which it has not come yet."""
        ended, all_of_them = np.bincount(self.steps[self.seen]), np.bincount(self.steps)
        at_risk = np.cumsum(all_of_them[::-1])[::-1]
        times = np.flatnonzero(ended)
        return times.astype(float), np.cumprod(1 - ended[times] / at_risk[times])

    @property
    def median(self) -> float | None:
        """When it has come for half of them; None if that was not seen."""
        times, left = self.survival()
        found = times[left <= 0.5]
        return float(found[0]) if len(found) else None

    def life_table(self) -> LifeTable:
        """All of it in few numbers: equal times are counted."""
        return [
            [int(time), int(self.seen[self.steps == time].sum()), int((~self.seen)[self.steps == time].sum())]
            for time in np.unique(self.steps)
        ]

    @classmethod
    def of_life_table(cls, rows: LifeTable) -> CensoredTimes:
        times, ended, lost = np.array(rows, int).reshape(-1, 3).T
        seen = np.repeat([True, False], [ended.sum(), lost.sum()])
        return cls(np.concatenate([np.repeat(times, ended), np.repeat(times, lost)]), seen)

    @classmethod
    def together(cls, several: list[CensoredTimes]) -> CensoredTimes:
        return cls(
            np.concatenate([one.steps for one in several]), np.concatenate([one.seen for one in several])
        )
