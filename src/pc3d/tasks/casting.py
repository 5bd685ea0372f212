"""Who is of which kind in an episode, and what that kind is able to do.

It is a function of mixes, key and team size alone: the same for every policy, and in a wider world.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray

from pc3d.experiment.kinds import Capability
from pc3d.experiment.mixes import Cast

MIX_DRAW = 1 << 20  # folded into the key where slots have their numbers


def kinds_drawn(
    cast: Cast,
    key: PRNGKeyArray,
    slot_keys: Key[Array, " agent"],
    team_size: int | Int[Array, ""],
) -> Int[Array, " agent"]:
    """The kind of every slot, as its place among those of the cast.

    A mix with counts is dealt out among the agents of the start. Slots that are filled later have its
    proportions as their chances, as all slots have those of a mix with chances.
    """
    number, slots = jnp.arange(len(slot_keys)), len(slot_keys)
    mix = jax.random.randint(jax.random.fold_in(key, MIX_DRAW), (), 0, len(cast.mixes))
    # In single precision wherever they are compared: a draw in another one is another draw.
    chances = jax.vmap(lambda own: jax.random.uniform(own, (), jnp.float32))(slot_keys)
    at_start = number < team_size
    sooner = (chances[:, None] < chances) | ((chances[:, None] == chances) & (number[:, None] < number))
    turn = jnp.sum(sooner & at_start[:, None], axis=0)
    dealt = jnp.sum(turn[:, None] >= _dealt_before(cast, slots)[mix, team_size], axis=-1)
    by_chance = jnp.sum(chances[:, None] >= _chances_below(cast)[mix], axis=-1)
    counted = jnp.asarray([one.counted for one in cast.mixes])[mix]
    return jnp.minimum(jnp.where(counted & at_start, dealt, by_chance), len(cast.kinds) - 1)


def capabilities_of_kinds(
    cast: Cast, capabilities: tuple[Capability, ...]
) -> Float[Array, "kind capability"]:
    """How able every kind of the cast is; not a number where that is for the task to draw."""
    values = [[kind.value(capability) for capability in capabilities] for kind in cast.kinds]
    table = np.array([[np.nan if value is None else value for value in row] for row in values], np.float32)
    # Rounded once, so that both precisions in which tasks are compared begin with the same numbers.
    return jnp.asarray(table, float)


def _dealt_before(cast: Cast, slots: int) -> Int[Array, "mix size kind"]:
    """How many agents of a team are of a kind up to each one, by mix and team size."""
    counts = np.zeros((len(cast.mixes), slots + 1, len(cast.kinds)), np.int32)
    for place, mix in enumerate(cast.mixes):
        columns = [cast.kinds.index(kind) for kind in mix.kinds]
        for size in range(slots + 1):
            counts[place, size, columns] = mix.counts(size)
    return jnp.asarray(np.cumsum(counts, axis=-1))


def _chances_below(cast: Cast) -> Float[Array, "mix kind"]:
    shares = np.zeros((len(cast.mixes), len(cast.kinds)))
    for place, mix in enumerate(cast.mixes):
        shares[place, [cast.kinds.index(kind) for kind in mix.kinds]] = mix.shares
    return jnp.asarray(np.cumsum(shares, axis=-1), jnp.float32)
