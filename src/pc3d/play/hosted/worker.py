"""A worker process: it holds some worlds and steps them as told over its pipes, until they close.

Started by `crew.py` as `python -m pc3d.play.hosted.worker KIND NAME ...`.
"""

import os
import signal
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pc3d.play.hosted.frames import Frame, read_frame, to_bytes
from pc3d.play.hosted.parallel import ParallelWorld
from pc3d.play.hosted.world import ContractBroken, HostWorld, MakeHostWorld, seed_of
from pc3d.system import processes
from pc3d.system.errors import Pc3dError
from pc3d.system.imports import described, load_object
from pc3d.system.plain import amount
from pc3d.system.signals import ignore_signals


class Worlds:
    """The worlds of this process by their place among all episodes; a world that ended serves again."""

    def __init__(self, make: MakeHostWorld) -> None:
        self.make = make
        self.idle: dict[int, list[HostWorld]] = defaultdict(list)  # by team size
        self.playing: dict[int, "_Playing"] = {}  # by place

    def answer(self, frame: Frame) -> Frame:
        """What the learner asked for."""
        answers: dict[str, Callable[..., Frame]] = {
            "begin": self.begin,
            "step": self.step,
            "picture": self.picture,
        }
        return answers[frame.name](**frame.arrays)

    def begin(self, places: np.ndarray, team_sizes: np.ndarray, keys: np.ndarray) -> Frame:
        for playing in self.playing.values():
            self.idle[playing.team_size].append(playing.world)
        self.playing, views, slots = {}, [], []
        for place, size, key in zip(places.tolist(), team_sizes.tolist(), keys, strict=True):
            playing = _Playing(size, seed_of(key))
            with playing.named():
                playing.world = self.idle[size].pop() if self.idle[size] else self.make(size)
                views.append(playing.world.begin(key))
                slots.append(playing.world.slots)
            self.playing[place] = playing
        return Frame(
            "begun",
            {"views": np.concatenate(views).astype(np.float32), "slots": np.array(slots, np.int32)},
        )

    def step(self, places: np.ndarray, keys: np.ndarray, actions: np.ndarray) -> Frame:
        """One step of the worlds at these places; the actions of their slots come one after the other."""
        steps, start = [], 0
        for place, key in zip(places.tolist(), keys, strict=True):
            playing = self.playing[place]
            playing.time += 1
            with playing.named():
                steps.append(playing.world.step(key, actions[start : start + playing.world.slots]))
            start += playing.world.slots
        return Frame(
            "stepped",
            {
                "views": np.concatenate([step.views for step in steps]).astype(np.float32),
                "present": np.concatenate([step.present for step in steps]),
                "rewards": np.array([step.reward for step in steps]),
                "terminated": np.array([step.terminated for step in steps]),
                "truncated": np.array([step.truncated for step in steps]),
                "measures": np.array([step.measures for step in steps], float),
            },
        )

    def picture(self, place: np.ndarray) -> Frame:
        playing = self.playing[int(place)]
        with playing.named():
            return Frame("drawn", {"picture": playing.world.picture()})


class _Playing:
    """One episode on its way, and its name when something goes wrong."""

    world: HostWorld

    def __init__(self, team_size: int, seed: int) -> None:
        self.team_size, self.seed, self.time = team_size, seed, 0

    @contextmanager
    def named(self) -> Iterator[None]:
        """Adds the episode to what its world complains about."""
        try:
            yield
        except Exception as error:
            said = str(error) if isinstance(error, ContractBroken | Pc3dError) else described(error)
            episode = f"with {amount(self.team_size, 'agent')} and seed {self.seed}, at step {self.time}"
            raise ContractBroken(f"{episode}: {said}") from error


def main() -> None:
    processes.end_with_parent_if_asked(signal.SIGKILL)
    # Ctrl-C, and a scheduler that stops all processes of a job, mean the learner, which finishes its update.
    ignore_signals()
    warnings.simplefilter("ignore")
    requests, replies = _private_pipes()
    try:
        worlds = Worlds(_maker(*sys.argv[1:]))
        problem = ""
    except Pc3dError as error:
        problem = str(error)
    while True:
        frame = read_frame(lambda count: _exactly(requests, count))
        if not problem:
            try:
                reply = worlds.answer(frame)
            except ContractBroken as error:
                problem = str(error)
        replies.write(to_bytes(Frame("failed", words=problem) if problem else reply))
        replies.flush()


def _maker(kind: str, name: str, *details: Any) -> MakeHostWorld:
    if kind == "original":
        from pc3d.play.hosted.original import OriginalOnHost, rules_from_words

        return partial(OriginalOnHost, name, rules_from_words(name, *details))
    # This process serves nothing but this task, so what it imports later may lie beside it, too.
    sys.path.append(str(Path.cwd()))
    return partial(ParallelWorld, load_object(name))


def _private_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes to the learner, out of the reach of a task that prints or reads."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return requests, replies


def _exactly(pipe: BinaryIO, count: int) -> bytes:
    content = pipe.read(count)
    if len(content) < count:  # the learner is gone
        sys.exit(0)
    return content


if __name__ == "__main__":
    main()
