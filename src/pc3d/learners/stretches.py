"""Stretches of played episodes: whole ones, or a few steps with what came shortly before them.

Cut on a fixed grid, so that every step of an episode is as likely to be drawn as any other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from pc3d.experiment.algorithm_settings import ReplaySettings


@dataclass(frozen=True)
class Stretch:
    """Which part of an episode it is."""

    piece: int
    steps: Int[np.ndarray, " time"]
    moments: Int[np.ndarray, " moment"]
    counts: Bool[np.ndarray, " time"]
    """Which of the steps are learned from."""


@dataclass(frozen=True)
class StretchPlan:
    """How episodes of a certain length are cut."""

    horizon: int
    pieces: int
    """Stretches of an episode."""
    length: int
    """Steps of a stretch that count."""
    burn_in: int
    """Steps before them, from which an actor gets something to remember."""

    @staticmethod
    def make(settings: ReplaySettings, horizon: int) -> StretchPlan:
        pieces = -(-horizon // (settings.sequence_steps or horizon))
        burn_in = settings.burn_in if pieces > 1 else 0
        return StretchPlan(horizon, pieces, -(-horizon // pieces), burn_in)

    def first_step(self, piece: int) -> int:
        """Where a piece begins, with the steps that come before those that count."""
        return max(0, piece * self.length - self.burn_in)

    def stretch(self, piece: int) -> Stretch:
        """One of the pieces; all are equally long."""
        begins = piece * self.length
        times = self.first_step(piece) + np.arange(self.burn_in + self.length)
        counts = (times >= begins) & (times < min(begins + self.length, self.horizon))
        # What lies after the end is a copy of the last moment: it counts nowhere, but somebody is there.
        steps = np.minimum(times, self.horizon - 1)
        return Stretch(piece, steps, np.minimum([*times, times[-1] + 1], self.horizon), counts)
