"""`pc3d doctor`: whether this machine is fit for training, and what to do where it is not."""

import sys

from rich.table import Table

from pc3d.benchmark.doctor import findings
from pc3d.cli.display import Terminal


def run() -> int:
    with Terminal(stderr=True).status("looking at this machine"):
        found = list(findings())
    table = Table(show_header=False, box=None)
    for finding in found:
        table.add_row("!!" if finding.trouble else "ok", finding.topic, finding.found)
    Terminal().print(table)
    troubles = [f"pc3d: {finding.topic}: {finding.trouble}" for finding in found if finding.trouble]
    for trouble in troubles:
        print(trouble, file=sys.stderr)
    return 1 if troubles else 0
