"""mpe2's Spread with real numbers for actions: pushes to the four sides, each from 0 to 1."""

import numpy as np
from gymnasium.spaces import Box
from mpe2 import simple_spread_v3
from pettingzoo.utils import BaseParallelWrapper

NEAREST = 3  # landmarks that an agent sees, and teammates: as many in every team


class NearestOnly(BaseParallelWrapper):
    """Everybody sees its own motion and place, and the nearest landmarks and teammates."""

    horizon = 25
    render_mode = "rgb_array"

    def observation_space(self, agent):
        del agent  # everybody sees the same kind of things
        return Box(-np.inf, np.inf, (4 + 4 * NEAREST,), np.float32)

    def reset(self, seed=None, options=None):
        views, infos = super().reset(seed, options)
        return {name: self.view(seen) for name, seen in views.items()}, infos

    def step(self, actions):
        views, *rest = super().step(actions)
        return {name: self.view(seen) for name, seen in views.items()}, *rest

    def view(self, seen):
        size = len(self.possible_agents)  # as many landmarks; what teammates say comes last and is nothing
        landmarks, others = np.split(seen[4 : 4 + 2 * size + 2 * (size - 1)].reshape(-1, 2), [size])
        return np.concatenate([seen[:4], nearest(landmarks), nearest(others)]).astype(np.float32)


def nearest(places):
    """The nearest ones first, and zeros where there are fewer."""
    order = np.argsort(np.linalg.norm(places, axis=-1), kind="stable")[:NEAREST]
    found = np.zeros((NEAREST, 2))
    found[: len(order)] = places[order]
    return found.ravel()


def make(team_size):
    spread = simple_spread_v3.parallel_env(
        N=team_size, max_cycles=25, local_ratio=0.0, continuous_actions=True, render_mode="rgb_array"
    )
    return NearestOnly(spread)
