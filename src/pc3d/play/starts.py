"""Where evaluation begins: starts depend on (task, size, rollout) alone, so all methods meet the same."""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from pc3d.play.randomness import Purpose, stream
from pc3d.system.errors import BadInput

STARTS_SEED = 20_260_000  # every method and every seed meets the same starts
ROLLOUTS_PER_SIZE = 1_000_000  # starts of different sizes never share a number
LARGEST_TEAM = 2**31 // ROLLOUTS_PER_SIZE - 1  # whose numbers are whole numbers of 32 bits


def rollout_keys(team_size: int, rollouts: int, first: int = 0) -> Key[Array, " rollout"]:
    """The keys of a size's rollouts: the same for all methods, and unknown to training."""
    if not (first >= 0 and rollouts >= 1 and first + rollouts <= ROLLOUTS_PER_SIZE):
        raise BadInput(f"rollouts are numbered from 0 to {ROLLOUTS_PER_SIZE - 1:,}, and at least 1 is needed")
    if team_size > LARGEST_TEAM:
        raise BadInput(f"starts are numbered for teams of at most {LARGEST_TEAM:,} agents, not {team_size}")
    numbers = team_size * ROLLOUTS_PER_SIZE + first + jnp.arange(rollouts)
    return jax.vmap(partial(stream, STARTS_SEED, Purpose.EVALUATE))(numbers)
