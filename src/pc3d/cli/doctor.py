"""`pc3d doctor`: whether this machine is fit for training, and what to do where it is not."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from pc3d.benchmark.doctor import findings


@dataclass(frozen=True)
class Command:
    pass


def run(command: Command) -> int:
    del command
    console = Console()
    with Console(stderr=True).status("looking at this machine"):
        found = list(findings())
    table = Table(show_header=False, box=None)
    for finding in found:
        table.add_row("!!" if finding.trouble else "ok", finding.topic, finding.found)
    console.print(table)
    for finding in found:
        if finding.trouble:
            print(f"pc3d: {finding.topic}: {finding.trouble}", file=sys.stderr)
    return 1 if any(finding.trouble for finding in found) else 0
