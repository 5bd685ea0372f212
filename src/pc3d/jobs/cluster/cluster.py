"""Jobs on a Ray cluster: each command is a task on some node, and its files come home while it runs.

This process alone writes the study's folder, and it listens to one task for each job: what an older attempt
still sends, from a node that was thought dead, is never read.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from pc3d.jobs.cluster import node
from pc3d.jobs.cluster.connection import connect
from pc3d.jobs.cluster.copying import Watch, take_over
from pc3d.jobs.study import Job
from pc3d.system.errors import BadInput, Interrupted, Pc3dError
from pc3d.system.files import one_owner

LOST = 1  # the exit code for a command that cannot tell its own any more
MANY = 100_000  # tasks that watch one stop sign
PATIENCE = 10.0  # seconds until we say that jobs wait for a CPU


@contextlib.contextmanager
def cluster_at(address: str, tell: Callable[[str], None]) -> Iterator[Cluster]:
    """Connect to a running cluster; in the end, nothing of ours goes on there."""
    connect(address)
    try:
        # When a node dies, a thread of Ray's prints pages of its log, whatever its settings are.
        with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
            yield Cluster(tell)
    finally:
        ray.shutdown()


class Cluster:
    """A workforce of Ray's CPUs: each takes one job at a time."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.tell = tell
        self.home = node.versions_and_code()
        self.unfit: dict[str, str] = {}
        self.tasks: list[ClusterWork] = []
        self.told_to_wait = False
        beside_us = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        sign = ray.remote(node.StopSign).options(
            num_cpus=0, scheduling_strategy=beside_us, max_concurrency=MANY
        )
        self.sign: Any = sign.remote()

    def places(self) -> int:
        """As many as there are CPUs, but at least one: a cluster may grow when something waits."""
        self.tasks = [task for task in self.tasks if task.exit_code is None]
        self._tell_if_all_wait()
        nodes = [one for one in ray.nodes() if one["Alive"]]
        with_processors = [one for one in nodes if one["Resources"].get("CPU")]
        fit = [one for one in with_processors if one["NodeID"] not in self.unfit]
        if with_processors and not fit:
            raise BadInput(next(iter(self.unfit.values())))
        return max(1, sum(int(one["Resources"]["CPU"]) for one in fit))

    def start(self, job: Job) -> ClusterWork:
        task = ClusterWork(job, self)
        self.tasks.append(task)
        return task

    def note_unfit(self, node_id: str, sentence: str) -> None:
        """Give a node no more work, and say why, once."""
        if node_id not in self.unfit:
            self.unfit[node_id] = sentence
            self.tell(f"{sentence}; it gets no jobs of this study")

    def _tell_if_all_wait(self) -> None:
        waits = self.tasks and not any(task.begun for task in self.tasks)
        if waits and not self.told_to_wait and time.monotonic() - self.tasks[0].since > PATIENCE:
            self.tell("no CPU of the cluster is free: the jobs wait")
            self.told_to_wait = True


class ClusterWork:
    """A job's command as a task; asking how it is doing brings its files home."""

    def __init__(self, job: Job, cluster: Cluster) -> None:
        self.job, self.cluster = job, cluster
        self.begun = False
        self.exit_code: int | None = None
        self.words = ""
        self.since = time.monotonic()
        job.folder.mkdir(parents=True, exist_ok=True)
        self.owning = contextlib.ExitStack()
        self.owning.enter_context(one_owner(job.folder))
        order = node.Order(job, Watch(job.folder).changes(), preset_content(job), cluster.home)
        fit = {"ray.io/node-id": f"!in({','.join(cluster.unfit)})"} if cluster.unfit else {}
        # Ray must not try again by itself: an attempt starts from the files that are home by then.
        task = ray.remote(node.work).options(
            num_cpus=1, max_retries=0, num_returns="streaming", label_selector=fit
        )
        self.stream: Any = task.remote(order, cluster.sign)

    def poll(self) -> int | None:
        try:
            while self.exit_code is None and ray.wait([self.stream], timeout=0)[0]:
                self._receive(ray.get(next(self.stream)))
        except (RayError, Pc3dError, StopIteration) as error:
            self.stop_listening(LOST, _reason(error))
        return self.exit_code

    def stop(self) -> None:
        if self.begun:
            self.cluster.sign.raise_it.remote()
        else:
            self.stop_listening(Interrupted.exit_code, "stopped before it began")

    def complaint(self) -> str:
        return self.words

    def _receive(self, news: node.News) -> None:
        self.begun = True
        take_over(news.changes, self.job.folder)
        if news.unfit_node:
            self.cluster.note_unfit(news.unfit_node, news.complaint)
        if news.exit_code is not None:
            self._end(news.exit_code, news.complaint)

    def stop_listening(self, exit_code: int, words: str) -> None:
        """Hear no more of the task, and see that it ends if it still runs."""
        with contextlib.suppress(RayError):
            ray.cancel(self.stream, force=True)
        self._end(exit_code, words)

    def _end(self, exit_code: int, words: str) -> None:
        self.exit_code, self.words, self.stream = exit_code, words, None
        self.owning.close()


def preset_content(job: Job) -> bytes | None:
    if "--preset" not in job.options:
        return None
    path = Path(job.options[job.options.index("--preset") + 1])
    return path.read_bytes() if path.is_file() else None


def _reason(error: BaseException) -> str:
    """One sentence out of what Ray says in many."""
    if isinstance(error, StopIteration):
        return "its task ended without a word"
    cause = getattr(error, "cause", None) or error
    return (str(cause).strip() or type(cause).__name__).splitlines()[0]
