"""Worlds that work for a while, then break in the middle of a training, each in its own way."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import numpy as np

from tests.play.hosted.sample_task import Meeting

WHOLE_EPISODES = 4  # of a world, before it breaks
STEP = 3  # of the next episode, at which it breaks
VICTIMS = "PC3D_TEST_VICTIMS"  # names the file in which worlds note their seeds before they break


class Faulty(Meeting):
    """Notes its seed in a file, so that a test can tell whether the right episode is named."""

    episodes = 0

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.seed = seed
        self.episodes += 1
        return super().reset(seed)

    def step(self, actions: dict[str, int]) -> Any:
        if self.episodes > WHOLE_EPISODES and self.time + 1 == STEP:
            with open(os.environ[VICTIMS], "a") as file:  # a world of another process may break, too
                file.write(f"{self.seed}\n")
            self.break_down()
        return super().step(actions)

    def break_down(self) -> None:
        raise NotImplementedError


class Throwing(Faulty):
    def break_down(self) -> None:
        raise ValueError("the wheel came off")


class Hanging(Faulty):
    def break_down(self) -> None:
        while True:
            time.sleep(1)


class Widening(Faulty):
    def break_down(self) -> None:
        self.views = lambda: dict.fromkeys(self.possible_agents, np.zeros(3, np.float32))


class Exiting(Faulty):
    def break_down(self) -> None:
        os._exit(7)


class Crashing(Faulty):
    def break_down(self) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)


class HangingForGood(Faulty):
    """Deaf to everything but kill -9."""

    def break_down(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))
        while True:
            time.sleep(1)
