"""How many multiplications networks take, counted from their shapes."""

import jax

from pc3d.networks.layers import Dense, Mlp

FORWARD_AND_BACKWARD = 3  # a layer's backward pass is two products of the forward's size
OPERATIONS_PER_PRODUCT = 2  # a multiplication and an addition


def products(module: object) -> float:
    """Multiplications of one row through all dense layers of a module."""
    parts = jax.tree.leaves(module, is_leaf=lambda part: isinstance(part, Dense))
    return float(sum(part.weight.size for part in parts if isinstance(part, Dense)))


def spared(encoder: Mlp) -> float:
    """Nothing asks for the gradient of an observation, so a first layer has one product less."""
    return float(encoder.layers[0].weight.size)
