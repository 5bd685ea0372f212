"""A real Ray cluster of several nodes on this machine's loopback, in a process of its own.

It lives as long as its standard input is open, so that it cannot outlive the tests. A line of input kills a
node as a power cut would, or adds one. All that it and its workers write is below one folder.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

# Ray takes 127.0.0.1 for a mistake and looks for the machine's outward address instead.
LOOPBACK = "127.0.0.2"
NODES = 2


class LoopbackCluster:
    """The tests' end of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        environment = {**os.environ, "TMPDIR": str(folder), "RAY_USAGE_STATS_ENABLED": "0"}
        self.process = subprocess.Popen(
            [sys.executable, __file__, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self.address = self._answer()

    def kill_a_node(self) -> None:
        """The one that has been there longest."""
        self._tell("kill")

    def add_a_node(self) -> None:
        self._tell("add")

    def commands(self) -> list[int]:
        """The pc3d commands that run on any of the nodes."""
        return processes_with(f"{self.folder}/pc3d-job-")

    def close(self) -> None:
        self.process.communicate(timeout=120)
        assert self.process.returncode == 0

    def _tell(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()
        self._answer()

    def _answer(self) -> str:
        assert self.process.stdout is not None
        answer = self.process.stdout.readline().strip()
        assert answer, "the cluster did not start"
        return answer


@contextlib.contextmanager
def loopback_cluster() -> Iterator[LoopbackCluster]:
    """A cluster, and the certainty that nothing of it is left afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="pc3d-"))  # Ray's sockets need a short path
    cluster = LoopbackCluster(folder)
    try:
        yield cluster
        cluster.close()
        assert wait_until(lambda: not processes_with(str(folder)))
    finally:
        for process in processes_with(str(folder)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)


def processes_with(text: str) -> list[int]:
    """The processes that have a text in their command lines."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if text.encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def wait_until(condition, seconds: float = 300.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def serve(folder: str) -> None:
    """The cluster's own end."""
    from ray.cluster_utils import Cluster

    settings = {"node_ip_address": LOOPBACK, "object_store_memory": 100_000_000}
    head = {"num_cpus": 0, "include_dashboard": False, "temp_dir": f"{folder}/ray", **settings}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes = [cluster.add_node(num_cpus=1, **settings) for _ in range(NODES)]
    print(cluster.address, flush=True)
    for line in sys.stdin:
        if line.strip() == "kill":
            cluster.remove_node(nodes.pop(0), allow_graceful=False)
        else:
            nodes.append(cluster.add_node(num_cpus=1, **settings))
        print("done", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    serve(sys.argv[1])
