"""Who is there at each moment. A task's state says it (`Task.present`); everything else follows from that."""

import jax.numpy as jnp
from jaxtyping import Array, Bool


def joined(present: Bool[Array, "*episode moment agent"]) -> Bool[Array, "*episode moment agent"]:
    """Who was not there a moment before; at the first moment nobody counts, as all memories are new then."""
    before = jnp.concatenate([present[..., :1, :], present[..., :-1, :]], axis=-2)
    return present & ~before
