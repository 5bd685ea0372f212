"""`pc3d methods`: what each method has."""

from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from pc3d.experiment.methods import METHODS


@dataclass(frozen=True)
class Command:
    pass


def run(command: Command) -> int:
    del command
    table = Table(title="Methods: one backbone, eight rows", title_justify="left")
    for heading in ("method", "critic", "conditioning", "gate", "distils", "in words"):
        table.add_column(heading)
    for name, method in METHODS.items():
        conditioned = method.has_context
        table.add_row(
            name,
            method.critic,
            method.conditioning,
            method.gate if conditioned else "–",
            "yes" if method.distils else "no",
            method.summary,
        )
    Console().print(table)
    return 0
