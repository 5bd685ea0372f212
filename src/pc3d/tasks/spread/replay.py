"""What the page's viewer is told of an episode of Simple Spread; replay.js draws it."""

from typing import Any

from pc3d.tasks.replay_numbers import scaled
from pc3d.tasks.spread.rules import CAPABILITIES
from pc3d.tasks.spread.world import Spread, SpreadState

SIZE = [capability.name for capability in CAPABILITIES].index("size")


def spread_replay(task: Spread, states: SpreadState, size: int) -> dict[str, Any]:
    larger = {} if task.growth == 1 else {"half_side": round(1000 * task.half_side)}
    able = states.capabilities
    unlike = {} if able is None else {"sizes": scaled(able[0, :size, SIZE], 1000)}
    return {
        **larger,
        **unlike,
        "landmarks": scaled(states.landmarks[0, : int(states.team_size[0])], 1000),
        "positions": scaled(states.positions[:, :size], 1000),
    }
