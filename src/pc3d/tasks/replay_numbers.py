"""Numbers of a replay: integers, which are small as text."""

from typing import Any

import numpy as np


def scaled(values: Any, scale: int) -> list[Any]:
    """The values times the scale, as whole numbers."""
    return np.rint(np.asarray(values, float) * scale).astype(int).tolist()
