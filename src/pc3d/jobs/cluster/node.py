"""On a node of a Ray cluster: one command of one job in a scratch folder, its files sent home meanwhile."""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ray

from pc3d.jobs.cluster.copying import NO_CHANGES, Changes, Watch, take_over
from pc3d.jobs.study import Job
from pc3d.system.errors import BadInput, Interrupted
from pc3d.system.files import one_owner
from pc3d.system.processes import last_words, start_worker
from pc3d.system.versions import code_digest, versions

SCRATCH = "pc3d-job-"
SECONDS_BETWEEN_LOOKS = 1.0
ABANDONED_AFTER = 3600.0  # seconds; younger scratch folders may be about to be locked


@dataclass(frozen=True)
class Order:
    """All a node needs to know to go on with a job, wherever it was before."""

    job: Job
    files: Changes
    """The whole run folder as it is at home."""
    preset: bytes | None
    """The content of the preset file, if the job has one: the node does not have that file."""
    home: dict[str, str]
    """The versions at home."""


@dataclass(frozen=True)
class News:
    """What a node sends home; the first means that the job runs, the last has its exit code."""

    changes: Changes = NO_CHANGES
    exit_code: int | None = None
    complaint: str = ""
    unfit_node: str = ""
    """The node's id, if it must not do any job of this study."""


class StopSign:
    """An actor beside the study's own process: raised, all nodes save and end; gone, too."""

    def __init__(self) -> None:
        self.raised = asyncio.Event()

    async def raise_it(self) -> None:
        self.raised.set()

    async def wait(self) -> None:
        await self.raised.wait()


def work(order: Order, sign: Any) -> Iterator[News]:
    """Do the job's next command here, and tell the study's machine of every change in its folder."""
    here, home = versions_and_code(), order.home
    other = [f"{name} {here[name]} instead of {home[name]}" for name in home if here[name] != home[name]]
    if other:
        sentence = (
            f"node {os.uname().nodename} has {', '.join(other)}, so its results would not be the same bits: "
            "set it up from the same checkout with make setup"
        )
        unfit = ray.get_runtime_context().get_node_id()
        yield News(exit_code=Interrupted.exit_code, complaint=sentence, unfit_node=unfit)
        return
    yield News()
    with _scratch_folder() as scratch:
        take_over(order.files, scratch / "run")
        # A future, as a task that blocks in `ray.get` gives its CPU away, and another job would come upon it.
        yield from follow(job_here(order, scratch), stop=sign.wait.remote().future())


def follow(job: Job, stop: Future[None]) -> Iterator[News]:
    """Run the job's next command; what it writes is news, at once and to the last file."""
    watch = Watch(job.folder)
    watch.changes()  # what came from home need not go back
    process, stopping = start_worker(job.next_words(), job.errors), False
    try:
        while process.poll() is None:
            time.sleep(SECONDS_BETWEEN_LOOKS)
            if not stopping and stop.done():
                stopping = True
                process.terminate()
            changes = watch.changes()
            if changes != NO_CHANGES:
                yield News(changes)
        code = process.returncode
        yield News(watch.changes(), code, last_words(job.errors, code))
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()


def versions_and_code() -> dict[str, str]:
    """What must agree between home and node for a result to have the same bits."""
    return {**versions(), "source code": code_digest()}


def job_here(order: Order, scratch: Path) -> Job:
    options = order.job.options
    if order.preset is not None:
        preset = scratch / "preset.toml"
        preset.write_bytes(order.preset)
        place = options.index("--preset") + 1
        options = (*options[:place], str(preset), *options[place + 1 :])
    return replace(order.job, folder=scratch / "run", options=options)


@contextmanager
def _scratch_folder() -> Iterator[Path]:
    """A folder that is gone afterwards; those of workers that were killed go when the next one begins."""
    for old in Path(tempfile.gettempdir()).glob(f"{SCRATCH}*"):
        with suppress(OSError, BadInput):
            status = old.stat()
            if status.st_uid == os.getuid() and time.time() - status.st_mtime > ABANDONED_AFTER:
                with one_owner(old):
                    shutil.rmtree(old, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=SCRATCH) as name, one_owner(Path(name)):
        yield Path(name)
