"""Rounds of episodes that nobody played, for replays: their numbers tell which round and episode they are."""

import jax
import numpy as np

from pc3d.play.episode import Episode

SLOTS, STEPS, WIDTH = 4, 3, 2  # of the replay, of every episode, of an observation
KEPT = {
    "array": lambda marks: marks,
    "table": lambda marks: {"first": marks, "second": -marks},
    "nothing": lambda _: None,
}


def made_round(
    number: int,
    count: int = 3,
    agents: int = 2,
    steps: int = STEPS,
    *,
    kept: str = "array",
    states: bool = False,
) -> Episode:
    """As play leaves them, in JAX's arrays. Every number of an episode is its mark, but for booleans."""
    marks = np.float32(100 * number) + np.arange(count, dtype=np.float32)

    def filled(*extents: int) -> np.ndarray:
        return np.broadcast_to(marks.reshape(-1, *[1] * len(extents)), (count, *extents))

    made = Episode(
        team_size=np.full(count, agents, np.int32),
        present=np.ones((count, steps + 1, agents), bool),
        observations=filled(steps + 1, agents, WIDTH),
        actions=filled(steps, agents).astype(np.int32),
        kept=KEPT[kept](filled(steps, agents)),
        rewards=filled(steps),
        played=np.ones((count, steps), bool),
        terminated=np.zeros((count, steps), bool),
        total_reward=filled(),
        measures={"collisions": filled(), "covered": filled()},
        global_states=filled(steps + 1, 5) if states else None,
    )
    return jax.device_put(made)


def marks_of(episodes: Episode) -> list[int]:
    """Which episodes these are: the round times a hundred, and the place in it."""
    return [int(mark) for mark in np.asarray(episodes.total_reward)]
