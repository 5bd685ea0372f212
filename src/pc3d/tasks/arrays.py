"""Arrays of either library: JAX's in what is compiled, NumPy's on the host."""

from typing import TYPE_CHECKING

import numpy as np
from jax import Array
from jaxtyping import Float, Int

if TYPE_CHECKING:
    AnyArray = Array  # NumPy's can do all that is asked of them, but a type checker does not know that
else:
    AnyArray = Array | np.ndarray | np.generic  # a NumPy array without axes is often a scalar

Amount = float | Float[AnyArray, "..."]  # of one episode, or of several side by side
Count = int | Int[AnyArray, "..."]
