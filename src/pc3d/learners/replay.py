"""A replay: the last rounds of played episodes, from which some are drawn to learn from again.

It is kept in NumPy beside the learner, because it is large and only grows at one end. What is drawn is a
function of the seed and the update, in the order of the update's gradient steps: a run that was stopped
draws as one that was not.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from pc3d.experiment.algorithm_settings import ReplaySettings
from pc3d.learners.stretches import Stretch, StretchPlan
from pc3d.play.episode import Episode

SAMPLING_STREAM = 0x5A3E


class Replay:
    """Rounds as they were played, each with its number, the oldest first."""

    def __init__(self, settings: ReplaySettings) -> None:
        self.settings = settings
        self.rounds: deque[tuple[int, Episode]] = deque()

    def add(self, number: int, episodes: Episode) -> None:
        """Remember a round, and forget the oldest ones while the rest fills the capacity."""
        made = compact(jax.device_get(episodes))
        if self.settings.first_memories:
            made = replace(made, kept=_first_memories(made, self._plan(made)))
        self.rounds.append((number, made))
        while self._count() - len(self.rounds[0][1].team_size) >= self.settings.capacity:
            self.rounds.popleft()

    def drawn(self, seed: int, update: int) -> Episode:
        """As many as an update learns from, uniformly and with replacement, as wide as the widest round."""
        generator = np.random.default_rng([SAMPLING_STREAM, seed, update])
        rounds = [episodes for _, episodes in self.rounds]
        plan = self._plan(rounds[0])
        numbers = generator.integers(self._count() * plan.pieces, size=self.settings.drawn)
        places, pieces = np.divmod(numbers, plan.pieces)
        ends = np.cumsum([len(episodes.team_size) for episodes in rounds])
        whose = np.searchsorted(ends, places, side="right")
        starts, stretches = np.concatenate([[0], ends]), [plan.stretch(piece) for piece in range(plan.pieces)]
        found = [
            _Found(rounds[which], int(place - starts[which]), stretches[piece])
            for place, piece, which in zip(places, pieces, whose, strict=True)
        ]
        slots = max(episodes.present.shape[-1] for episodes in rounds)
        return _together(found, slots, first_memories=self.settings.first_memories)

    def _plan(self, episodes: Episode) -> StretchPlan:
        return StretchPlan.make(self.settings, episodes.rewards.shape[1])

    def _count(self) -> int:
        return sum(len(episodes.team_size) for _, episodes in self.rounds)


@dataclass(frozen=True)
class _Found:
    """A stretch of one of a round's episodes."""

    episodes: Episode
    at: int
    stretch: Stretch

    def steps(self, part: str) -> Any:
        return jax.tree.map(lambda values: values[self.at][self.stretch.steps], getattr(self.episodes, part))

    def moments(self, part: str) -> Any:
        return jax.tree.map(
            lambda values: values[self.at][self.stretch.moments], getattr(self.episodes, part)
        )

    def piece(self, part: str) -> Any:
        """What there is one of for each piece."""
        piece = [self.stretch.piece]
        return jax.tree.map(lambda values: values[self.at][piece], getattr(self.episodes, part))

    def whole(self, part: str) -> Any:
        return jax.tree.map(lambda values: values[self.at], getattr(self.episodes, part))


def _together(found: list[_Found], slots: int, *, first_memories: bool) -> Episode:
    """Side by side, in the types in which they were played; nobody fills the slots that some lack."""

    def stacked(parts: Iterable[Any]) -> Any:
        return jax.tree.map(lambda *leaves: np.stack(leaves), *parts)

    def wide(parts: Iterable[Any]) -> Any:
        return jax.tree.map(lambda *leaves: _widened(leaves, slots), *parts)

    def as_wide(parts: Iterable[Any]) -> Any:
        return jax.tree.map(lambda *leaves: _as_wide_as_the_widest(leaves), *parts)

    counts = np.stack([one.stretch.counts for one in found])
    return Episode(
        team_size=stacked(one.whole("team_size") for one in found),
        present=wide(one.moments("present") for one in found),
        observations=_as_floats(wide(one.moments("observations") for one in found)),
        actions=wide(one.steps("actions") for one in found),
        kept=wide(one.piece("kept") if first_memories else one.steps("kept") for one in found),
        rewards=stacked(one.steps("rewards") for one in found),
        played=stacked(one.steps("played") for one in found) & counts,
        terminated=stacked(one.steps("terminated") for one in found),
        total_reward=stacked(one.whole("total_reward") for one in found),
        measures=stacked(one.whole("measures") for one in found),
        global_states=jax.tree.map(_as_floats, as_wide(one.moments("global_states") for one in found)),
        allowed=wide(one.moments("allowed") for one in found),
    )


def _widened(parts: tuple[np.ndarray, ...], slots: int) -> np.ndarray:
    """Arrays over time and agents, stacked; zeros where there are fewer agents."""
    time, _, *rest = parts[0].shape
    made = np.zeros((len(parts), time, slots, *rest), np.result_type(*parts))
    for place, part in enumerate(parts):
        made[place, :, : part.shape[1]] = part
    return made


def _as_wide_as_the_widest(parts: tuple[np.ndarray, ...]) -> np.ndarray:
    """Arrays over time, stacked; zeros where a larger world has more to tell."""
    width = max(part.shape[-1] for part in parts)
    return np.stack([np.pad(part, ((0, 0), (0, width - part.shape[-1]))) for part in parts])


def _first_memories(episodes: Episode, plan: StretchPlan) -> dict[str, np.ndarray]:
    """Of all that was remembered, what every piece begins with; nothing for who was not there before it."""
    after, found = episodes.kept["memory"], []
    for piece in range(plan.pieces):
        step = plan.first_step(piece)
        stayed = episodes.present[:, step - 1] & episodes.present[:, step] if step else False
        found.append(np.where(np.expand_dims(stayed, -1), after[:, max(step - 1, 0)], 0))
    return {"memory": np.stack(found, axis=1).astype(after.dtype)}


def _as_floats(values: Any) -> Any:
    return values.astype(np.float32)


def compact(episodes: Episode) -> Episode:
    """The same in a quarter of the bytes where all that is seen are small whole numbers."""
    return replace(
        episodes,
        observations=_in_one_byte(episodes.observations),
        global_states=jax.tree.map(_in_one_byte, episodes.global_states),
    )


def _in_one_byte(values: Any) -> Any:
    with np.errstate(invalid="ignore"):  # what is no number is not small, and comes back as something else
        small = values.astype(np.int8)
    # Bytes are compared, not numbers: a zero may have a sign.
    return small if small.astype(values.dtype).tobytes() == values.tobytes() else values
