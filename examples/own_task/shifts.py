"""Workers tend stations along a corridor; shifts end and others come, while the team works."""

from itertools import count

import numpy as np
from gymnasium.spaces import Box, Discrete
from pettingzoo import ParallelEnv

STATIONS = np.array([0.2, 0.5, 0.8])
SEEN = Box(-1, 1, (5,), np.float32)  # own place, the way to the nearest colleague and to the stations
CHOICE = Discrete(3)  # left, stay, right


class Shifts(ParallelEnv):
    metadata = {"name": "shifts"}  # noqa: RUF012
    horizon = 50

    def __init__(self, team_size):
        self.team_size = team_size
        self.agent_slots = team_size + 1  # room for one who comes at the very step at which another goes

    def observation_space(self, _agent):
        return SEEN

    def action_space(self, _agent):
        return CHOICE

    def reset(self, seed=None, **_options):
        self.chance, self.time = np.random.default_rng(seed), 0
        self.names = (f"worker_{number}" for number in count())  # who joins is nobody who was here before
        self.places = {next(self.names): self.chance.uniform() for _ in range(self.team_size)}
        self.agents = list(self.places)
        return self._views(), {name: {} for name in self.agents}

    def step(self, actions):
        self.time += 1
        for name, action in actions.items():
            self.places[name] = float(np.clip(self.places[name] + 0.1 * (action - 1), 0, 1))
        gaps = np.abs(STATIONS[:, None] - np.array(list(self.places.values()))).min(axis=1)
        going = [name for name in self.agents if self.chance.uniform() < 0.05][: len(self.agents) - 1]
        last = self._views()  # who goes sees once more, too
        self.places = {name: place for name, place in self.places.items() if name not in going}
        if len(self.places) < self.team_size and self.chance.uniform() < 0.2:
            self.places[next(self.names)] = 0.0  # at the door
        self.agents = [] if (over := self.time == self.horizon) else list(self.places)
        told, seen = {*actions, *self.agents}, last | self._views()
        return (
            {name: seen[name] for name in told},
            {name: -float(gaps.mean()) if name in actions else 0.0 for name in told},
            dict.fromkeys(told, False),
            {name: over or name in going for name in told},
            {name: {} for name in told},
        )

    def _views(self):
        found = {}
        for name, at in self.places.items():
            ways = [place - at for other, place in self.places.items() if other != name]
            found[name] = np.array([at, min(ways, key=abs, default=0.0), *STATIONS - at], np.float32)
        return found
