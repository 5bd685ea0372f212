"""Rounds of episodes that nobody played, for replays: their numbers tell which round and episode they are."""

import jax.numpy as jnp
import numpy as np

from pc3d.play.episode import Episode

SLOTS, STEPS, WIDTH = 4, 3, 2  # of the replay, of every episode, of an observation
KEPT = {
    "array": lambda marks: marks,
    "table": lambda marks: {"first": marks, "second": -marks},
    "nothing": None,
}


def made_round(number: int, count: int = 3, agents: int = 2, *, kept: str = "array", states: bool = False):
    """As play leaves them, in JAX's arrays. Every number of an episode is its mark, but for booleans."""
    marks = 100.0 * number + np.arange(count)

    def filled(*extents: int):
        return jnp.broadcast_to(marks.reshape(-1, *[1] * len(extents)), (count, *extents))

    return Episode(
        team_size=jnp.full(count, agents, jnp.int32),
        present=jnp.ones((count, STEPS + 1, agents), bool),
        observations=filled(STEPS + 1, agents, WIDTH),
        actions=filled(STEPS, agents).astype(jnp.int32),
        kept=KEPT[kept] and KEPT[kept](filled(STEPS, agents)),
        rewards=filled(STEPS),
        played=jnp.ones((count, STEPS), bool),
        terminated=jnp.zeros((count, STEPS), bool),
        total_reward=filled(),
        measures={"collisions": filled(), "covered": filled()},
        global_states=filled(STEPS + 1, 5) if states else None,
    )


def marks_of(episodes: Episode) -> list[int]:
    """Which episodes these are: the round times a hundred, and the place in it."""
    return [int(mark) for mark in episodes.total_reward]
