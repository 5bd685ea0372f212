"""Actions by chance, for whoever plays without a policy: all that are allowed are equally likely."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Num

from pc3d.experiment.action_space import ActionSpace, Box
from pc3d.tasks.arrays import AnyArray


def by_chance(
    space: ActionSpace,
    chances: Float[AnyArray, "*rows"],
    allowed: Bool[AnyArray, "*some action"] | None = None,
) -> Num[AnyArray, "*rows"]:
    """The actions that these uniform draws stand for, with NumPy or JAX, as the draws are."""
    if isinstance(space, Box):
        low: Any = np.array(space.low, np.float32)
        return low + chances * (np.array(space.high, np.float32) - low)
    anything: Any = np.ones((*chances.shape, space.width), bool)
    return any_allowed(anything if allowed is None else allowed, chances)


def any_allowed(
    allowed: Bool[AnyArray, "*rows action"], chances: Float[AnyArray, "*rows"]
) -> Int[AnyArray, "*rows"]:
    """One of the allowed actions, each as likely as another; the first where none is."""
    count = allowed.sum(axis=-1)
    # Rounding can bring a draw to 1.
    rank = (chances * count).astype("int32").clip(0, count - 1)
    return (allowed.cumsum(axis=-1) <= rank[..., None]).sum(axis=-1).astype("int32")
