"""A replay: the last rounds of played episodes, from which some are drawn to learn from again.

It is kept in NumPy beside the learner, because it is large and only grows at one end. What is drawn is a
function of the seed and the update, so that a run that was stopped draws as one that was not.
"""

from collections import deque

import jax
import numpy as np

from pc3d.play.episode import Episode, widened

SAMPLING_STREAM = 0x5A3E


class Replay:
    """Rounds as they were played, each with its number, the oldest first."""

    def __init__(self, capacity: int, slots: int) -> None:
        self.capacity, self.slots = capacity, slots
        self.rounds: deque[tuple[int, Episode]] = deque()

    def add(self, number: int, episodes: Episode) -> None:
        """Remember a round, and forget the oldest ones while the rest fills the capacity."""
        played = jax.device_get(episodes)
        self.rounds.append((number, widened(played, self.slots)))
        while self._count() - len(self.rounds[0][1].team_size) >= self.capacity:
            self.rounds.popleft()

    def drawn(self, seed: int, update: int, count: int) -> Episode:
        """So many of the episodes, uniformly and with replacement."""
        generator = np.random.default_rng([SAMPLING_STREAM, seed, update])
        places = np.sort(generator.integers(self._count(), size=count))
        ends = np.cumsum([len(episodes.team_size) for _, episodes in self.rounds])
        whose = np.searchsorted(ends, places, side="right")
        starts = np.concatenate([[0], ends])
        parts = [
            jax.tree.map(lambda values, at=places[whose == number] - starts[number]: values[at], episodes)
            for number, (_, episodes) in enumerate(self.rounds)
        ]
        return jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)

    def _count(self) -> int:
        return sum(len(episodes.team_size) for _, episodes in self.rounds)
