"""`pc3d methods`: what each method has."""

from pc3d.cli.display import Terminal, table
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
    Terminal().print(table("Methods: one actor, one row each", headings, rows))
    return 0
