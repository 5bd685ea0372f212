"""The kinds of numbers that settings are, with what they may be."""

from typing import Annotated

from pc3d.system.bounds import Range

Widths = Annotated[tuple[int, ...], Range(1, 4096)]
Width = Annotated[int, Range(1, 4096)]
Share = Annotated[float, Range(0, 1)]
ShareAboveNone = Annotated[float, Range(0, 1, above=True)]
Horizon = Annotated[int, Range(1, 10**6)]
Rollouts = Annotated[int, Range(1, 10**6)]  # episodes for each team size, wherever policies are scored
