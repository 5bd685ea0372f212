"""What is random in an update besides which episodes are drawn: a function of the seed and the update."""

import equinox as eqx
from jaxtyping import Array, Float

from pc3d.networks.entity_groups import Groups


class Chance(eqx.Module):
    """By episode, like everything that is cut into minibatches; None where nothing of it is needed."""

    groups: Groups | None = None
    """Of entities, to imagine values from."""
    noise: Float[Array, "episode word agent number"] | None = None
    """Of what a coach says, or of what is told apart."""


NOTHING = Chance()
