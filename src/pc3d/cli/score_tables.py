"""Returns as people read them: team size by team size with their spread, then the means of the splits."""

from collections.abc import Iterator, Mapping

import numpy as np
from jaxtyping import Float
from rich.table import Table

from pc3d.cli.display import table
from pc3d.experiment.rosters import Rosters

BySize = Mapping[int, Float[np.ndarray, " rollout"]]
SPLITS = ("train", "validation", "test")
NOTHING = "–"


def returns_table(named: Mapping[str, BySize], rosters: Rosters, *, splits: bool = True) -> Table:
    """A row for each team size, a column for each policy; below them the splits, if they are asked for."""
    sizes = sorted({size for returns in named.values() for size in returns})
    rollouts = max(len(values) for returns in named.values() for values in returns.values())
    made = table(
        f"Mean return ± standard deviation over {rollouts} rollouts, by team size",
        ("agents", "split", *named),
        (
            (str(size), rosters.split_of(size), *(_cell(one, size) for one in named.values()))
            for size in sizes
        ),
        words=2,
        narrow=True,
    )
    made.title_style = ""
    if splits:
        made.add_section()
        for row in _split_rows(named, rosters):
            made.add_row(*row)
    return made


def _cell(returns: BySize, size: int) -> str:
    if size not in returns:
        return NOTHING
    deviation = f" ± {returns[size].std(ddof=1):.2f}" if len(returns[size]) > 1 else ""
    return f"{returns[size].mean():.2f}{deviation}"


def _split_rows(named: Mapping[str, BySize], rosters: Rosters) -> Iterator[tuple[str, ...]]:
    """Means over the sizes of each split, as the paper reports them."""
    for split in SPLITS:
        members = getattr(rosters, split)
        means = [_split_mean(returns, members) for returns in named.values()]
        if set(means) - {NOTHING}:
            yield ("all", split, *means)


def _split_mean(returns: BySize, sizes: tuple[int, ...]) -> str:
    found = [returns[size].mean() for size in sizes if size in returns]
    return f"{np.mean(found):.2f}" if found else NOTHING
