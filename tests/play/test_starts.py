"""Starts: the same for everybody, and none of them twice."""

import numpy as np
import pytest

from pc3d.play.starts import ROLLOUTS_PER_SIZE, rollout_keys
from pc3d.system.errors import BadInput


def test_no_two_sizes_share_a_start():
    first, second = (rollout_keys(size, 2) for size in (3, 4))
    assert not np.any(first == second)
    assert rollout_keys(3, 1, first=1)[0] == first[1]


@pytest.mark.parametrize(("rollouts", "first"), [(0, 0), (1, -1), (ROLLOUTS_PER_SIZE + 1, 0)])
def test_impossible_rollouts_are_refused(rollouts, first):
    with pytest.raises(BadInput, match="rollouts are numbered"):
        rollout_keys(3, rollouts, first)
