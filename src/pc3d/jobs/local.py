"""Jobs on this machine: one single-thread process each, as many at a time as asked for."""

import subprocess
from dataclasses import dataclass

from pc3d.jobs.loop import Job
from pc3d.system.processes import last_words, start_worker


@dataclass(frozen=True)
class ThisMachine:
    """A workforce of processes."""

    workers: int

    def places(self) -> int:
        return self.workers

    def start(self, job: Job) -> "LocalWork":
        return LocalWork(job, start_worker(job.next_words(), job.errors))


@dataclass(frozen=True)
class LocalWork:
    """A job's command in a process of its own."""

    job: Job
    process: "subprocess.Popen[bytes]"
    begun: bool = True

    def poll(self) -> int | None:
        return self.process.poll()

    def stop(self) -> None:
        self.process.terminate()

    def complaint(self) -> str:
        return last_words(self.job.errors, self.process.returncode)
