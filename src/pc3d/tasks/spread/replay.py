"""What the page's viewer is told of an episode of Simple Spread; replay.js draws it."""

from typing import Any

from pc3d.tasks.replay_numbers import scaled
from pc3d.tasks.spread.world import SpreadState


def spread_replay(states: SpreadState, size: int) -> dict[str, Any]:
    return {
        "landmarks": scaled(states.landmarks[0, :size], 1000),
        "positions": scaled(states.positions[:, :size], 1000),
    }
