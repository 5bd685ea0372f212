"""`pc3d methods`: what each method has."""

from rich.console import Console

from pc3d.cli.display import table
from pc3d.experiment.methods import METHODS


def run() -> int:
    headings = ("method", "critic", "conditioning", "gate", "distils", "in words")
    rows = (
        (
            name,
            method.critic,
            method.conditioning,
            method.gate if method.has_context else "–",
            "yes" if method.distils else "no",
            method.summary,
        )
        for name, method in METHODS.items()
    )
    Console().print(table("Methods: one actor, one row each", headings, rows))
    return 0
