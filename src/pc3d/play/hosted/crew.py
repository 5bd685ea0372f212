"""The worker processes that step a task's worlds, as the learner sees them: many worlds, one answer."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Bool, Float, Int, Num, UInt, UInt8

from pc3d.play.hosted.frames import Frame, read_frame, to_bytes
from pc3d.play.hosted.world import seed_of
from pc3d.system.bounds import Bounded, Range
from pc3d.system.errors import Pc3dError
from pc3d.system.plain import amount
from pc3d.system.processes import PYTHON, environment_of_child

SECONDS_TO_END = 2.0
Request = Callable[[Int[np.ndarray, " place"]], Frame]  # what to ask of a worker about some places


class WorldFailed(Pc3dError):
    """The task's own code failed in the middle of something; the sentence names the episode."""

    exit_code = 1


@dataclass(frozen=True)
class Hosting(Bounded):
    """How worlds are stepped on the host; none of it changes a single bit of what is learned."""

    env_workers: Annotated[int, Range(1, 256)] = 1
    """Processes that step the worlds of an own task, or of the originals."""
    env_timeout: Annotated[float, Range(0, 1e6, above=True)] = 60.0
    """Seconds after which a world that does not answer counts as hanging."""


DEFAULT_HOSTING = Hosting()


@dataclass(frozen=True)
class Source:
    """Where worlds come from: `own` with an import path, or `original` with a task and its settings."""

    kind: str
    name: str
    details: tuple[str, ...] = ()


class Crew:
    """Starts its workers when first needed; they end with `close`, or with this process, however it ends."""

    def __init__(self, source: Source, hosting: Hosting = DEFAULT_HOSTING) -> None:
        self.source, self.hosting = source, hosting
        self._workers: list[_Worker] = []
        self.slots: Int[np.ndarray, " episode"] = np.zeros(0, np.int32)
        """How many each world has, since it began."""

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def begin(
        self, keys: UInt[np.ndarray, "episode 2"], team_sizes: Int[np.ndarray, " episode"]
    ) -> Float[np.ndarray, "view observation"]:
        """Begin one episode per key; the views of all slots, one episode after the other."""
        while len(self._workers) < min(self.hosting.env_workers, len(keys)):
            self._workers.append(_Worker(self.source))
        seeds = [seed_of(key) for key in keys]
        self._episodes = [
            f"{amount(size, 'agent')}, seed {seed}" for size, seed in zip(team_sizes, seeds, strict=True)
        ]
        sizes, self._time = np.asarray(team_sizes, np.int32), 0
        places = np.arange(len(keys), dtype=np.int32)
        replies = self._ask(
            places,
            lambda chosen: Frame(
                "begin", {"places": chosen, "team_sizes": sizes[chosen], "keys": keys[chosen]}
            ),
        )
        self.slots = np.zeros(len(keys), np.int32)
        for chosen, reply in replies:
            self.slots[chosen] = reply.arrays["slots"]
        return self._in_order(places, replies, "views")

    def step(
        self,
        going: Bool[np.ndarray, " episode"],
        keys: UInt[np.ndarray, "episode 2"],
        actions: Num[np.ndarray, "episode agent *number"],
    ) -> Stepped:
        """Step the episodes that are still going."""
        self._time += 1
        places = np.flatnonzero(going).astype(np.int32)

        def request(chosen: np.ndarray) -> Frame:
            teams = [actions[place, : self.slots[place]] for place in chosen]
            kind = np.float32 if actions.dtype.kind == "f" else np.int32
            return Frame(
                "step",
                {"places": chosen, "keys": keys[chosen], "actions": np.concatenate(teams).astype(kind)},
            )

        replies = self._ask(places, request)
        order = np.argsort(np.concatenate([chosen for chosen, _ in replies]))
        columns = {
            name: np.concatenate([reply.arrays[name] for _, reply in replies])[order]
            for name in ("rewards", "terminated", "truncated", "measures")
        }
        views, present = (self._in_order(places, replies, name) for name in ("views", "present"))
        return Stepped(views, present, **columns)

    def picture(self, episode: int) -> UInt8[np.ndarray, "row column 3"]:
        """How an episode looks now."""
        place = np.array(episode, np.int32)
        worker = self._workers[episode % len(self._workers)]
        worker.send(Frame("picture", {"place": place}))
        return self._receive(worker, np.array([episode])).arrays["picture"]

    def close(self) -> None:
        for worker in self._workers:
            worker.end()
        self._workers = []

    def _ask(self, places: Int[np.ndarray, " place"], request: Request) -> list[tuple[np.ndarray, Frame]]:
        """Send every worker its share of the places, and only then wait: they work at the same time."""
        shares = [places[places % len(self._workers) == number] for number in range(len(self._workers))]
        busy = [(worker, share) for worker, share in zip(self._workers, shares, strict=True) if len(share)]
        for worker, share in busy:
            worker.send(request(share))
        return [(share, self._receive(worker, share)) for worker, share in busy]

    def _receive(self, worker: _Worker, places: Int[np.ndarray, " place"]) -> Frame:
        try:
            reply = worker.receive(self.hosting.env_timeout)
        except TimeoutError:
            problem = f"did not answer within {self.hosting.env_timeout:g} s"
        except EOFError:
            problem = f"ended its process with code {worker.process.wait()}"
        else:
            if reply.name != "failed":
                return reply
            self.close()
            raise WorldFailed(f"{self.source.name} failed {reply.words}")
        self.close()
        among = "; ".join(self._episodes[place] for place in places)
        raise WorldFailed(f"{self.source.name} {problem} at step {self._time}, in one of: {among}")

    def _in_order(
        self, places: Int[np.ndarray, " place"], replies: list[tuple[np.ndarray, Frame]], name: str
    ) -> np.ndarray:
        """What is told of all slots by place, whichever worker it came from."""
        teams: dict[int, np.ndarray] = {}
        for chosen, reply in replies:
            ends = np.cumsum(self.slots[chosen])
            teams |= dict(zip(chosen.tolist(), np.split(reply.arrays[name], ends[:-1]), strict=True))
        return np.concatenate([teams[place] for place in places.tolist()])


@dataclass(frozen=True)
class Stepped:
    """What a step brought to the episodes that were going, in their order."""

    views: Float[np.ndarray, "view observation"]
    present: Bool[np.ndarray, " view"]
    rewards: Float[np.ndarray, " episode"]
    terminated: Bool[np.ndarray, " episode"]
    truncated: Bool[np.ndarray, " episode"]
    measures: Float[np.ndarray, "episode measure"]


class _Worker:
    """One process at the other end of two pipes."""

    def __init__(self, source: Source) -> None:
        self.process = subprocess.Popen(
            [*PYTHON, "-m", "pc3d.play.hosted.worker", source.kind, source.name, *source.details],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment_of_child(PYGAME_HIDE_SUPPORT_PROMPT="yes"),
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.requests, self.replies = self.process.stdin, self.process.stdout

    def send(self, frame: Frame) -> None:
        with suppress(BrokenPipeError):  # it has ended, which reading its reply will tell
            self.requests.write(to_bytes(frame))
            self.requests.flush()

    def receive(self, seconds: float) -> Frame:
        pipe, deadline = self.replies.fileno(), time.monotonic() + seconds

        def read(count: int) -> bytes:
            content = b""
            while len(content) < count:
                left = max(0.0, deadline - time.monotonic())
                if not select.select([pipe], [], [], left)[0]:
                    raise TimeoutError
                part = os.read(pipe, count - len(content))
                if not part:
                    raise EOFError
                content += part
            return content

        return read_frame(read)

    def end(self) -> None:
        """Its pipe closes, so it ends by itself; if it is stuck, it is killed."""
        with suppress(BrokenPipeError):
            self.requests.close()
        try:
            self.process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.replies.close()
