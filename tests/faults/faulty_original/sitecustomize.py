"""Python imports a module of this name when it starts: with this folder on its path, lbforaging breaks.

It works for a while, then breaks in the way that an environment variable names, in the middle of an episode.
"""

import os
import time

from lbforaging.foraging.environment import ForagingEnv

WHOLE_EPISODES = 4  # of a world, before it breaks
STEP = 3  # of the next episode, at which it breaks
whole_step = ForagingEnv.step


def step(self, actions):
    views, *rest = whole_step(self, actions)
    self.episodes = getattr(self, "episodes", 0) + (self.current_step == 1)
    if self.episodes > WHOLE_EPISODES and self.current_step == STEP:
        kind = os.environ["PC3D_TEST_FAULT"]
        if kind == "throwing":
            raise ValueError("the wheel came off")
        while kind == "hanging":
            time.sleep(1)
        if kind == "exiting":
            os._exit(7)
        views = [view[:-1] for view in views]
    return views, *rest


ForagingEnv.step = step
