"""A task from another package: pursuers catch evaders on a small map, two at a time (PettingZoo's SISL)."""

import pettingzoo


def make(team_size):
    """Pursuers on a small map catch evaders; two of them must reach an evader together."""
    return pettingzoo.make(
        "parallel",
        "sisl/pursuit-v5",
        n_pursuers=team_size,
        n_evaders=8,
        x_size=10,
        y_size=10,
        surround=False,  # an evader is caught by n_catch pursuers in its cell
        n_catch=2,
        max_cycles=100,
        render_mode="rgb_array",
    )
