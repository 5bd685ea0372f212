"""Reaching a Ray cluster: within seconds, or with one sentence."""

import logging
import os
import re
import signal
import subprocess

import ray

from pc3d.system.errors import BadInput
from pc3d.system.processes import PYTHON

ADDRESS = re.compile(r"(?:[A-Za-z0-9][\w.-]*|\[[0-9A-Fa-f:]+\]):([0-9]{1,5})", re.ASCII)
PATIENCE = 15.0  # seconds
PROBE = "import sys, ray; ray.init(address=sys.argv[1], log_to_driver=False)"


def connect(address: str) -> None:
    """Make this process a driver of the cluster, which must be running: we never start one."""
    match = ADDRESS.fullmatch(address)
    if not match or not 0 < int(match.group(1)) < 2**16:
        raise BadInput(
            f"--ray takes HOST:PORT of a running cluster's head, such as 10.0.0.1:6379, not {address!r}"
        )
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else Ray warns of its next version
    _refuse_unreachable(address)
    handler = signal.getsignal(signal.SIGTERM)
    ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    signal.signal(signal.SIGTERM, handler)  # Ray's own would end the study before the nodes have saved


def _refuse_unreachable(address: str) -> None:
    """Try it in another process first: Ray waits for minutes, in code that no signal interrupts."""
    hint = (
        f"see that it runs, that this machine is one of its nodes (ray start --address={address}), "
        "and that both have the same token if it asks for one"
    )
    try:
        probe = subprocess.run(
            [*PYTHON, "-c", PROBE, address],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BadInput(
            f"no Ray cluster answered at {address} within {PATIENCE:.0f} seconds: {hint}"
        ) from None
    if probe.returncode != 0:
        words = probe.stderr.strip().splitlines()
        raise BadInput(
            f"Ray cannot use the cluster at {address} ({words[-1] if words else 'no reason given'}): {hint}"
        )
