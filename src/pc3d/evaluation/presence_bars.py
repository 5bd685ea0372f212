"""Who was there when, as bars under a film: a row for each slot, and a line where the film is."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, UInt8

from pc3d.play.presence import joined

ROOM = 96  # pixels for all rows together
TALLEST, SHORTEST = 10, 2
MARK = 3  # pixels: of a join, and of the line
THERE, AWAY, NEW = (66, 103, 172), (236, 238, 242), (230, 140, 30)
PAPER, INK = (255, 255, 255), (38, 42, 51)


def presence_bars(
    present: Bool[np.ndarray, "moment agent"], moment: int, width: int
) -> UInt8[np.ndarray, "height width 3"]:
    """As wide as the film; where somebody joins, a bar begins with another colour."""
    moments, slots = present.shape
    pixels = np.arange(width) * moments // width  # the moment that each column shows
    rows = np.where(present[pixels].T[..., None], THERE, AWAY)
    for at, slot in np.argwhere(np.asarray(joined(jnp.asarray(present)))):
        first = int(at * width // moments)
        rows[slot, first : first + MARK] = NEW
    height = max(SHORTEST, min(TALLEST, ROOM // slots))
    bars = np.repeat(rows, height, axis=0)
    bars[height - 1 :: height] = PAPER
    middle = (2 * moment + 1) * width // (2 * moments)
    bars[:, max(middle - MARK // 2, 0) : middle + MARK // 2 + 1] = INK
    return bars.astype(np.uint8)
